//! kernelwright 1
//! task    hand_over
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch data: int32[64]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(64) args(x, data, flag, y)
//? dims N=64

// Mended twin of: the data is volatile where it is written, but not where it is read.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    *(volatile int*)&data[t] = x[t];
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
    __threadfence();
    y[t] = data[t];
  }
}
