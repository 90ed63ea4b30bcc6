//! kernelwright 1
//! task    sum_and_norm
//! input   x: fp64[N]
//! output  sum: fp64[]
//! output  norm: fp64[]
//! when    true
//! launch  sum_and_norm grid(1) block(256) args(x, sum, norm, N)

__device__ double block_sum(double v) {
  __shared__ double slots[8];
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  __syncthreads();  // the slots may still be read from the call before
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
  __syncthreads();
  double total = 0.0;
  for (int w = 0; w < 8; ++w) total += slots[w];
  return total;
}

__global__ void sum_and_norm(const double* x, double* sum, double* norm, long long n) {
  double s = 0.0, q = 0.0;
  for (long long i = threadIdx.x; i < n; i += blockDim.x) {
    s += x[i];
    q = fma(x[i], x[i], q);
  }
  s = block_sum(s);
  q = block_sum(q);
  if (threadIdx.x == 0) {
    *sum = s;
    *norm = sqrt(q);
  }
}
