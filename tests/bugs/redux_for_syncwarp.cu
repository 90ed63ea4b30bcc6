//! kernelwright 1
//! task    sums
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  sums grid(R) block(32) args(x, y)
//? dims R=2
//? certain

// Bug: a reduction of the warp stands between the store and the loads, but it orders no memory.
__global__ void sums(const int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
  s[t] = v;  //~ missing-syncwarp
  int least = __reduce_min_sync(0xffffffffu, v);
  y[blockIdx.x * 32 + t] = s[31 - t] - least;  //~ missing-syncwarp
}
