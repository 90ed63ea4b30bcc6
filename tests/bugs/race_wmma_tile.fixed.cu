//! kernelwright 1
//! task    tile_product
//! input   a: fp16[16, K]
//! input   b: fp16[K, 16]
//! output  c: fp32[16, 16]
//! when    K % 16 == 0
//! launch  tile_product grid(1) block(64) args(a, b, c, K)
//? dims K=64

// Mended twin of: the second warp refills the tile while the first multiplies it.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void tile_product(const __half* a, const __half* b, float* c, int K) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __half left[256];
  __shared__ __align__(32) __half right[256];
  int t = threadIdx.x;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    if (t >= 32) {
      for (int i = t - 32; i < 256; i += 32) {
        left[i] = a[(i / 16) * K + k0 + i % 16];
        right[i] = b[(k0 + i / 16) * 16 + i % 16];
      }
    }
    __syncthreads();
    if (t < 32) {
      load_matrix_sync(fa, left, 16);
      load_matrix_sync(fb, right, 16);
      mma_sync(sum, fa, fb, sum);
    }
    __syncthreads();
  }
  if (t < 32) store_matrix_sync(c, sum, 16, mem_row_major);
}
