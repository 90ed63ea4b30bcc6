//! kernelwright 1
//! task    next
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  next grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: a shuffle stands between the store and the load of the neighbour, but shuffles order no memory.
__global__ void next(const int* x, int* y) {
  __shared__ int s[33];
  int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
  s[t] = v;
  if (t == 0) s[32] = v;
  int first = __shfl_sync(0xffffffffu, v, 0);
  __syncwarp();
  y[blockIdx.x * 32 + t] = s[t + 1] - first;
}
