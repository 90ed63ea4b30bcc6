//! kernelwright 1
//! task    uneven
//! input   x: int32[R, C]
//! output  y: int32[R]
//! when    true
//! launch  uneven grid(R) block(64) args(x, y, C)
//? dims R=2 C=100

// Mended twin of: threads go round the loop a different number of times, and there is a barrier in it.
__global__ void uneven(const int* x, int* y, int cols) {
  __shared__ int best;
  if (threadIdx.x == 0) best = -1000000;
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += 64) {
    atomicMax(&best, x[blockIdx.x * cols + c]);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = best;
}
