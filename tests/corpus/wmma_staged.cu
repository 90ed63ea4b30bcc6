//! kernelwright 1
//! task    staged_matmul
//! input   a: bf16[M, K]
//! input   bt: bf16[N, K]
//! output  c: fp32[M, N]
//! output  low: fp16[M, N]
//! when    M % 32 == 0 && N % 32 == 0 && K % 16 == 0
//! launch  staged_matmul grid(N / 32, M / 32) block(128) args(a, bt, c, low, N, K)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

// Four warps, each a 16 x 16 tile; both operands pass through padded shared memory, the second column-major.
__global__ void staged_matmul(const __nv_bfloat16* a, const __nv_bfloat16* bt, float* c, __half* low, int N, int K) {
  using namespace nvcuda::wmma;
  __shared__ __align__(32) __nv_bfloat16 left[32][24];
  __shared__ __align__(32) __nv_bfloat16 right[32][24];
  __shared__ __align__(32) float out[4][16][20];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wr = warp / 2, wc = warp % 2;
  int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = threadIdx.x; i < 32 * 16; i += 128) {
      left[i / 16][i % 16] = a[(size_t)(row0 + i / 16) * K + k0 + i % 16];
      right[i / 16][i % 16] = bt[(size_t)(col0 + i / 16) * K + k0 + i % 16];
    }
    __syncthreads();
    load_matrix_sync(fa, &left[16 * wr][0], 24);
    load_matrix_sync(fb, &right[16 * wc][0], 24);
    mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * 0.5f;
  store_matrix_sync(&out[warp][0][0], sum, 20, mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    float v = out[warp][i / 16][i % 16];
    size_t at = (size_t)(row0 + 16 * wr + i / 16) * N + col0 + 16 * wc + i % 16;
    c[at] = v;
    low[at] = __float2half_rn(v);
  }
}
