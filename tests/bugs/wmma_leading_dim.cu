//! kernelwright 1
//! task    square
//! input   x: fp16[16, L]
//! output  y: fp32[16, 16]
//! when    L % 8 == 0 && L >= 32
//! launch  square grid(1) block(32) args(x, y, L)
//? dims L=32
//? also uninitialised-use

// Bug: the leading dimension of a wmma tile is not a multiple of 8 halves.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(const __half* x, float* y, int ld) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  __shared__ __align__(32) __half tile[16 * 32];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * (20) + i % 16] = x[i / 16 * ld + i % 16];
  __syncwarp();
  load_matrix_sync(a, tile, 20);  //~ misaligned
  load_matrix_sync(b, x, ld);
  mma_sync(sum, a, b, sum);
  store_matrix_sync(y, sum, 16, mem_row_major);
}
