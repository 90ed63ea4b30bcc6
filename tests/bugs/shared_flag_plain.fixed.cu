//! kernelwright 1
//! task    hand_over
//! input   x: int32[R, 64]
//! output  y: int32[R, 32]
//! when    true
//! launch  hand_over grid(R) block(64) args(x, y)
//? dims R=2
//? budget 4000000

// Mended twin of: the second warp looks at a plain flag and hopes.
__global__ void hand_over(const int* x, int* y) {
  __shared__ int value[32];
  __shared__ int ready;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 32) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    value[lane] = x[blockIdx.x * 64 + lane];
    __syncwarp();
    if (lane == 0) {
      __threadfence_block();
      atomicExch(&ready, 1);
    }
  } else {
    if (lane == 0) {
      while (atomicAdd(&ready, 0) == 0) {
      }
      __threadfence_block();
    }
    __syncwarp();
    y[blockIdx.x * 32 + lane] = value[31 - lane];
  }
}
