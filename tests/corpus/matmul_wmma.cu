//! kernelwright 1
//! task    half_matmul
//! input   a: fp16[M, K]
//! input   b: fp16[K, N]
//! output  c: fp32[M, N]
//! when    M % 16 == 0 && N % 16 == 0 && K % 16 == 0
//! launch  half_matmul grid(N / 16, M / 16) block(32) args(a, b, c, M, N, K)
#include <cuda_fp16.h>
#include <mma.h>

__global__ void half_matmul(const __half* a, const __half* b, float* c, int M, int N, int K) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += 16) {
    load_matrix_sync(left, a + (size_t)blockIdx.y * 16 * K + k, K);
    load_matrix_sync(right, b + (size_t)k * N + blockIdx.x * 16, N);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + (size_t)blockIdx.y * 16 * N + blockIdx.x * 16, sum, N, mem_row_major);
}
