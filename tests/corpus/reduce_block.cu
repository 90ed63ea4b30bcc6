//! kernelwright 1
//! task    row_sum_squares
//! input   x: fp32[R, C]
//! output  y: fp32[R]
//! tune    THREADS in 256, 64
//! when    true
//! launch  row_sum_squares<THREADS> grid(R) block(THREADS) args(x, y, C)

template <int kThreads>
__global__ void row_sum_squares(const float* x, float* y, int cols) {
  __shared__ float partial[kThreads];
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    float v = x[(size_t)blockIdx.x * cols + c];
    sum += v * v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
