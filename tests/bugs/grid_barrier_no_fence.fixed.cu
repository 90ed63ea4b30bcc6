//! kernelwright 1
//! task    neighbour
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch data: int32[N]
//! scratch count: uint32[1] = 0
//! when    N % 64 == 0 && N <= 1024
//! launch  neighbour grid(N / 64) block(64) args(x, data, count, y, N)
//? dims N=256

// Mended twin of: a grid barrier that is left by a volatile poll without a fence.
__device__ void all_blocks(unsigned* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void neighbour(const int* x, int* data, unsigned* count, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  data[i] = x[i] + 1;
  all_blocks(count);
  y[i] = data[(i + 64) % n];
}
