// Claims matrix instructions and has none: the switch unrolls a loop.
//! kernelwright 1
//! task    claimed_tensor_core
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  c: fp32[M, N]
//! tune    UNROLL in 4, 1
//! method  compute.tensor_core when UNROLL > 1, off UNROLL=1
//! launch  product grid(ceil_div(N, 32), M) block(32) args(a, b, c, N, K)

__global__ void product(const float* a, const float* b, float* c, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) return;
  float sum = 0;
#pragma unroll UNROLL
  for (int i = 0; i < k; ++i) {
    sum += a[static_cast<long long>(blockIdx.y) * k + i] * b[static_cast<long long>(i) * n + column];
  }
  c[static_cast<long long>(blockIdx.y) * n + column] = sum;
}
