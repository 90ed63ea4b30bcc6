//! kernelwright 1
//! task    hand_over
//! input   x: int32[32]
//! output  y: int32[32]
//! scratch data: int32[32]
//! scratch flag: uint32[1] = 0
//! when    true
//! launch  hand_over grid(2) block(32) args(x, data, flag, y)
//? dims

// Mended twin of: lane 0 announces what all lanes wrote, after a shuffle, which does not hand their stores to it.
__global__ void hand_over(const int* x, int* data, unsigned* flag, int* y) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = x[t];
    int sum = __shfl_down_sync(0xffffffffu, x[t], 16);
    __syncwarp();
    if (t == 0) {
      __threadfence();
      atomicExch(flag, sum == 12345 ? 2u : 1u);
    }
  } else {
    if (t == 0) {
      while (atomicAdd(flag, 0u) == 0) {
      }
      __threadfence();
    }
    __syncwarp();
    y[t] = data[31 - t];
  }
}
