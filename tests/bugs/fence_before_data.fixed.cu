//! kernelwright 1
//! task    hand_over
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch data: int32[64]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(64) args(x, data, flag, y)
//? dims N=64

// Mended twin of: the fence stands before the data, not between data and flag.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] * 2;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(flag, 1u);
  } else {
    if (t == 0) {
      while (atomicAdd(flag, 0u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    y[t] = data[t];
  }
}
