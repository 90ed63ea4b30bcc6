// Products by matrix instructions; without them the same tiles by single multiplications.
//! kernelwright 1
//! task    tensor_cores
//! input   a: fp16[M, K]
//! input   b: fp16[K, N]
//! output  c: fp32[M, N]
//! tune    MATRIX in 1, 0
//! method  compute.tensor_core when MATRIX == 1, off MATRIX=0
//! when    M % 16 == 0 && N % 16 == 0 && K % 16 == 0
//! launch  product grid(N / 16, M / 16) block(32) args(a, b, c, N, K)
//! when    true
//! launch  product_any grid(ceil_div(N, 32), M) block(32) args(a, b, c, N, K)
#include <cuda_fp16.h>
#include <mma.h>

__global__ void product(const __half* a, const __half* b, float* c, int n, int k) {
  const __half* left = a + static_cast<long long>(blockIdx.y) * 16 * k;
  const __half* right = b + blockIdx.x * 16;
  float* out = c + static_cast<long long>(blockIdx.y) * 16 * n + blockIdx.x * 16;
#if MATRIX
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int start = 0; start < k; start += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
    wmma::load_matrix_sync(x, left + start, k);
    wmma::load_matrix_sync(y, right + static_cast<long long>(start) * n, n);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(out, sum, n, wmma::mem_row_major);
#else
  const int row = threadIdx.x / 2, first = threadIdx.x % 2 * 8;
  float sum[8] = {};
  for (int i = 0; i < k; ++i) {
    const float x = __half2float(left[static_cast<long long>(row) * k + i]);
    for (int j = 0; j < 8; ++j) {
      sum[j] += x * __half2float(right[static_cast<long long>(i) * n + first + j]);
    }
  }
  for (int j = 0; j < 8; ++j) out[static_cast<long long>(row) * n + first + j] = sum[j];
#endif
}

__global__ void product_any(const __half* a, const __half* b, float* c, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += __half2float(a[static_cast<long long>(blockIdx.y) * k + i]) *
           __half2float(b[static_cast<long long>(i) * n + column]);
  }
  c[static_cast<long long>(blockIdx.y) * n + column] = sum;
}
