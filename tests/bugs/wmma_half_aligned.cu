//! kernelwright 1
//! task    square
//! input   x: fp16[16, L]
//! output  y: fp32[16, 16]
//! when    L % 8 == 0 && L >= 32
//! launch  square grid(1) block(32) args(x, y, L)
//? dims L=32

// Bug: a wmma tile begins 16 bytes after a multiple of 32.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(const __half* x, float* y, int ld) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(a, x + 8, ld);  //~ misaligned
  load_matrix_sync(b, x, ld);
  mma_sync(sum, a, b, sum);
  store_matrix_sync(y, sum, 16, mem_row_major);
}
