// Claims exchanges inside a warp; the switch changes the size of the tree.
//! kernelwright 1
//! task    claimed_shuffle
//! input   x: fp32[B, D]
//! output  y: fp32[B]
//! tune    THREADS in 128, 256
//! method  compute.warp_shuffle when THREADS == 128, off THREADS=256
//! launch  add grid(B) block(THREADS) args(x, y, D)

__global__ void add(const float* x, float* y, int columns) {
  __shared__ float part[THREADS];
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += THREADS) sum += row[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
