//! kernelwright 1
//! task    total
//! input   x: int32[N]
//! output  y: int32[1]
//! when    true
//! launch  total grid(1) block(96) args(x, y)
//? dims N=96

// Mended twin of: the lock is passed on before the sum is stored for others to see.
#define FENCE __threadfence_block()

__global__ void total(const int* x, int* y) {
  __shared__ int next, serving, sum;
  if (threadIdx.x == 0) next = serving = sum = 0;
  __syncthreads();
  int mine = atomicAdd(&next, 1);
  while (*(volatile int*)&serving != mine) {
  }
  __threadfence_block();
  sum += x[threadIdx.x];
  FENCE;
  *(volatile int*)&serving = mine + 1;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum;
}
