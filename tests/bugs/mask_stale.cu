//! kernelwright 1
//! task    leaders
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  leaders grid(R) block(32) args(x, y)
//? dims R=2
//? also collective-deadlock inactive-lane-read output-not-written

// Bug: the mask was taken before some lanes left.
__global__ void leaders(const int* x, int* y) {
  int t = threadIdx.x;
  int v = x[blockIdx.x * 32 + t];
  unsigned mask = __activemask();
  y[blockIdx.x * 32 + t] = 0;
  if (v < 0) return;
  unsigned same = __match_any_sync(mask, v & 3);  //~ bad-collective-mask
  y[blockIdx.x * 32 + t] = __popc(same);
}
