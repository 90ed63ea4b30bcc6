// Rows are added up by exchanges inside a warp; without them by a tree in shared memory.
//! kernelwright 1
//! task    shuffles
//! input   x: fp32[B, D]
//! output  y: fp32[B]
//! tune    LANES in 1, 0
//! method  compute.warp_shuffle when LANES == 1, off LANES=0
//! launch  add grid(B) block(256) args(x, y, D)

__global__ void add(const float* x, float* y, int columns) {
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) sum += row[i];
#if LANES
  __shared__ float part[8];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  }
#else
  __shared__ float part[256];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
#endif
}
