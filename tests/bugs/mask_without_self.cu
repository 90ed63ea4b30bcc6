//! kernelwright 1
//! task    neighbours
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  neighbours grid(R) block(32) args(x, y, 2147483647)
//? dims R=1
//? also output-not-written

// Bug: lane 31 takes part in a ballot whose mask leaves it out.
__global__ void neighbours(const int* x, int* y, unsigned mask) {
  int t = threadIdx.x;
  int v = x[blockIdx.x * 32 + t];
  unsigned positive = __ballot_sync(mask, v > 0);  //~ bad-collective-mask
  y[blockIdx.x * 32 + t] = __popc(positive);
}
