//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[N / 64]
//! when    N % 64 == 0
//! launch  count grid(N / 64) block(64) args(x, y)
//? dims N=128

// Mended twin of: volatile does not make an increment in shared memory atomic.
__global__ void count(const int* x, int* y) {
  __shared__ int hits;
  if (threadIdx.x == 0) hits = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&hits, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = hits + 0 * x[0];
}
