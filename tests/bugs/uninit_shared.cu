//! kernelwright 1
//! task    block_mean
//! input   x: fp32[N]
//! output  y: fp32[ceil_div(N, 64)]
//! when    true
//! launch  block_mean grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=100

// Bug: threads past the end leave their slot unset, and it is summed all the same.
__global__ void block_mean(const float* x, float* y, int n) {
  __shared__ float slots[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n) slots[t] = x[i];
  __syncthreads();
  if (t == 0) {
    float sum = 0.0f;
    for (int k = 0; k < 64; ++k) sum += slots[k];
    y[blockIdx.x] = sum / 64.0f;  //~ uninitialised-use
  }
}
