//! kernelwright 1
//! task    pair_max
//! input   x: int32[N]
//! output  y: int32[N]
//! when    true
//! launch  pair_max grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=45

// Mended twin of: the mask is right, but the last lane in it still asks the lane to its right.
__global__ void pair_max(const int* x, int* y, int n) {
  int i = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  int v = x[i];
  int last = 31 - __clz(mask);
  int r = __shfl_sync(mask, v, min(lane + 1, last));
  y[i] = max(v, r);
}
