//! kernelwright 1
//! task    product
//! input   a: fp16[16, 16]
//! input   b: fp16[16, 16]
//! output  c: fp32[16, 16]
//! when    true
//! launch  product grid(1) block(32) args(a, b, c)
//? dims
//? certain

// Bug: the accumulator is never filled before products are added to it.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void product(const __half* a, const __half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sums;
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(c, sums, 16, mem_row_major);  //~ uninitialised-use
}
