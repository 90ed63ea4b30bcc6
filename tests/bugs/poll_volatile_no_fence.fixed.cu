//! kernelwright 1
//! task    hand_over
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch data: int32[64]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(64) args(x, data, flag, y)
//? dims N=64

// Mended twin of: a volatile poll sees the flag, but nothing orders the data after it.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] * 2;
    __syncthreads();
    if (t == 0) {
      __threadfence();
      *(volatile unsigned*)flag = 1;
    }
  } else {
    while (*(volatile unsigned*)flag == 0) {
    }
    __threadfence();
    y[t] = data[t];
  }
}
