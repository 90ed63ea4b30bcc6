//! kernelwright 1
//! task    hand_over
//! input   x: int32[32]
//! output  y: int32[32]
//! scratch data: int32[32]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(32) args(x, data, flag, y)
//? dims

// Mended twin of: lane 0 sees the flag and tells the others by a shuffle, which does not order their loads.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t];
    __syncwarp();
    if (t == 0) {
      __threadfence();
      atomicExch(flag, 1u);
    }
  } else {
    unsigned seen = 0;
    if (t == 0) {
      while ((seen = atomicAdd(flag, 0u)) == 0) {
      }
      __threadfence();
    }
    seen = __shfl_sync(0xffffffffu, seen, 0);
    __syncwarp();
    y[t] = data[31 - t] + (int)seen;
  }
}
