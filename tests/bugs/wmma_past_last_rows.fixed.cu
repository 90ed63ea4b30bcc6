//! kernelwright 1
//! task    product
//! input   a: fp16[M, 16]
//! input   b: fp16[16, 16]
//! output  c: fp32[M, 16]
//! when    M % 16 == 0
//! launch  product grid(ceil_div(M, 16)) block(32) args(a, b, c)
//? dims M=32

// Mended twin of: the last tile of 16 rows reaches past the end of a matrix with 24.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void product(const __half* a, const __half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sums;
  fill_fragment(sums, 0.0f);
  load_matrix_sync(left, a + blockIdx.x * 256, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(c + blockIdx.x * 256, sums, 16, mem_row_major);
}
