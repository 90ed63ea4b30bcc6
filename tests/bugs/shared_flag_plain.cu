//! kernelwright 1
//! task    hand_over
//! input   x: int32[R, 64]
//! output  y: int32[R, 32]
//! when    true
//! launch  hand_over grid(R) block(64) args(x, y)
//? dims R=2
//? budget 4000000
//? also uninitialised-use instruction-budget deadlock output-not-written missing-syncwarp

// Bug: the second warp looks at a plain flag and hopes.
__global__ void hand_over(const int* x, int* y) {
  __shared__ int value[32];
  __shared__ int ready;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 32) ready = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    value[lane] = x[blockIdx.x * 64 + lane];  //~ shared-race
    ready = 1;  //~ shared-race
  } else {
    for (int tries = 0; tries < 100 && ready == 0; ++tries) {  //~ shared-race
    }
    y[blockIdx.x * 32 + lane] = value[31 - lane];  //~ shared-race
  }
}
