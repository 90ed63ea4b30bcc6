//! kernelwright 1
//! task    warp_pipeline
//! input   x: int32[R, 128]
//! output  y: int32[R, 128]
//! when    true
//! launch  warp_pipeline grid(R) block(128) args(x, y)

// Each warp waits for the warp before it through a volatile flag in shared memory, with fences on both sides.
__global__ void warp_pipeline(const int* x, int* y) {
  __shared__ volatile int ready[4];
  __shared__ volatile int carry[4];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 4) ready[threadIdx.x] = 0;
  __syncthreads();
  int v = x[blockIdx.x * 128 + threadIdx.x];
  for (int step = 1; step < 32; step *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step) v += left;
  }
  int before = 0;
  if (lane == 31) {
    if (warp > 0) {
      while (ready[warp - 1] == 0) {
      }
      __threadfence_block();
      before = carry[warp - 1];
    }
    carry[warp] = before + v;
    __threadfence_block();
    ready[warp] = 1;
  }
  before = __shfl_sync(0xffffffffu, before, 31);
  y[blockIdx.x * 128 + threadIdx.x] = v + before;
}
