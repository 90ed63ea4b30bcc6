//! kernelwright 1
//! task    hand_over
//! input   x: int32[N]
//! output  y: int32[64]
//! scratch data: int32[64]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(64) args(x, data, flag, y)
//? dims N=64

// Bug: a relaxed load of the flag is not an acquire.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t] * 2;
    __syncthreads();
    if (t == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    unsigned seen = 0;
    while (seen == 0) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    y[t] = data[t];  //~ global-race-between-blocks
  }
}
