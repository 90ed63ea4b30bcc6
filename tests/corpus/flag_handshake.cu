//! kernelwright 1
//! task    relay
//! input   x: int32[N]
//! output  y: int32[N]
//! let     blocks = ceil_div(N, 32)
//! scratch flag: int32[blocks] = 0
//! scratch carried: int32[blocks]
//! when    true
//! launch  relay grid(blocks) block(32) args(x, y, flag, carried, N)

// Each block passes a running exclusive-or to the next through a volatile flag with fences on both sides.
__global__ void relay(const int* x, int* y, int* flag, int* carried, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.x;
  int v = i < n ? x[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    int left = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step) v ^= left;
  }
  int before = 0;
  if (lane == 31) {
    if (blockIdx.x > 0) {
      volatile int* ready = flag;
      while (ready[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = ((volatile int*)carried)[blockIdx.x - 1];
    }
    ((volatile int*)carried)[blockIdx.x] = before ^ v;
    __threadfence();
    ((volatile int*)flag)[blockIdx.x] = 1;
  }
  before = __shfl_sync(0xffffffffu, before, 31);
  if (i < n) y[i] = v ^ before;
}
