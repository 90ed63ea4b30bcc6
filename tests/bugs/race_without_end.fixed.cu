//! kernelwright 1
//! task    spin
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 64 == 0
//! launch  spin grid(N / 64) block(64) args(x, y)
//? dims N=64
//? budget 3000000

// Mended twin of: a loop that races never ends: its work is limited, findings or not.
__global__ void spin(const int* x, int* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    atomicAdd(&sum, 0);
    if (i % 2 == 5) sum = threadIdx.x + i;
  }
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = x[0] * 0 + sum * 0;
}
