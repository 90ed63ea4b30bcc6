//! kernelwright 1
//! task    relay
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 96 == 0
//! launch  relay grid(N / 96) block(96) args(x, y)
//? dims N=96
//? also uninitialised-use

// Bug: the fence comes after the flag.
__global__ void relay(const int* x, int* y) {
  __shared__ int data[32];
  __shared__ int flag;
  int t = threadIdx.x, lane = t % 32;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t < 32) {
    data[lane] = x[blockIdx.x * 96 + t];  //~ shared-race
    __syncwarp();
    if (t == 0) *(volatile int*)&flag = 1;
    __threadfence_block();
  }
  int value = 0;
  if (t >= 64) {
    while (*(volatile int*)&flag == 0) {
    }
    __threadfence_block();
    value = data[lane];  //~ shared-race
  }
  y[blockIdx.x * 96 + t] = value;
}
