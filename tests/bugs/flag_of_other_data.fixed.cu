//! kernelwright 1
//! task    two_halves
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch first: int32[N]
//! scratch second: int32[N]
//! scratch ready: uint32[2] = 0
//! when    true
//! launch  two_halves grid(2) block(64) args(x, first, second, ready, y)
//? dims N=64

// Mended twin of: the flag that the reader awaits was set before the second array was written.
#define FLAG 1

__global__ void two_halves(const int* x, int* first, int* second, unsigned* ready, int* y) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    first[i] = x[i] + 1;
    __threadfence();
    __syncthreads();
    if (i == 0) atomicExch(&ready[0], 1u);
    second[i] = x[i] * 2;
    __threadfence();
    __syncthreads();
    if (i == 0) atomicExch(&ready[1], 1u);
    return;
  }
  if (i == 0) {
    while (atomicAdd(&ready[FLAG], 0u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  y[i] = first[63 - i] + second[63 - i];
}
