//! kernelwright 1
//! task    mean_of_all
//! input   x: fp32[N]
//! output  y: fp32[]
//! let     blocks = min(64, ceil_div(N, 256))
//! scratch partial: fp32[blocks]
//! when    true
//! launch  partial_sums grid(blocks) block(256) args(x, partial, N)
//! launch  finish grid(1) block(32) args(partial, y, blocks, N)

__device__ float block_sum(float v, float* slots) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (lane == 0) slots[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? slots[lane] : 0.0f;
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  return v;
}

__global__ void partial_sums(const float* x, float* partial, int n) {
  __shared__ float slots[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum, slots);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void finish(const float* partial, float* y, int blocks, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += 32) sum += partial[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[0] = sum / n;
}
