//! kernelwright 1
//! task    rounds
//! input   x: int32[64]
//! output  y: int32[64]
//! scratch data: int32[64] = 0
//! scratch full: uint32[1] = 0
//! scratch empty: uint32[1] = 0
//! when    true
//! launch  rounds grid(2) block(64) args(x, data, full, empty, y)
//? dims
//? certain

// Bug: in the second round the reader sees the flag but makes no fence, so its cache may hold the first round's values.
__device__ void wait_for(unsigned* flag, unsigned round, bool fence) {
  if (threadIdx.x == 0) {
    while (*(volatile unsigned*)flag < round) {
    }
    if (fence) __threadfence();
  }
  __syncthreads();
}

__device__ void tell(unsigned* flag, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(round) : "memory");
}

__global__ void rounds(const int* x, int* data, unsigned* full, unsigned* empty, int* y) {
  int t = threadIdx.x, sum = 0;
  for (unsigned round = 1; round <= 2; ++round) {
    if (blockIdx.x == 0) {
      wait_for(empty, round - 1, true);
      data[t] = x[t] * (int)round;  //~ global-race-between-blocks
      tell(full, round);
    } else {
      wait_for(full, round, false);
      sum += data[63 - t];  //~ global-race-between-blocks
      tell(empty, round);
    }
  }
  if (blockIdx.x == 1) y[t] = sum;
}
