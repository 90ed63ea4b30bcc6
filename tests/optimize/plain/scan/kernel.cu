// One block per row. The row is taken in pieces as long as the block; every piece is scanned by
// doubling steps in shared memory, and the sum so far is carried on.
//! kernelwright 1
//! task    scan
//! input   x: fp32[B, D]
//! output  y: fp32[B, D]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  scan grid(B) block(THREADS) args(x, y, D)

__global__ void scan(const float* x, float* y, int columns) {
  __shared__ float part[THREADS];
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float* result = y + static_cast<long long>(blockIdx.x) * columns;
  float carried = 0;
  for (int start = 0; start < columns; start += THREADS) {
    const int i = start + threadIdx.x;
    part[threadIdx.x] = i < columns ? row[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
      const float before = threadIdx.x >= step ? part[threadIdx.x - step] : 0.0f;
      __syncthreads();
      part[threadIdx.x] += before;
      __syncthreads();
    }
    if (i < columns) result[i] = carried + part[threadIdx.x];
    carried += part[THREADS - 1];
    __syncthreads();
  }
}
