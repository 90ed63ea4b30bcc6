//! kernelwright 1
//! task    total
//! input   x: int32[N]
//! output  y: int32[1]
//! scratch part: int32[8]
//! scratch count: uint32[2] = 0
//! when    true
//! launch  total grid(8) block(32) args(x, part, count, y)
//? order
//? certain
//? dims N=256
//? also uninitialised-use order-dependence

// Bug: the last block to start adds the sums, not the last one to end. They are the same wherever
// blocks do not overlap.
#define EARLY 1

__global__ void total(const int* x, int* part, unsigned* count, int* y) {
  int lane = threadIdx.x;
  unsigned before = 0;
  if (EARLY && lane == 0) before = atomicAdd(&count[0], 1u);
  int sum = x[blockIdx.x * 32 + lane];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane != 0) return;
  part[blockIdx.x] = sum;  //~ global-race-between-blocks
  __threadfence();
  unsigned after = atomicAdd(&count[1], 1u);
  if ((EARLY ? before : after) != 7) return;
  __threadfence();
  int all = 0;
  for (int b = 0; b < 8; ++b) all += part[b];  //~ global-race-between-blocks
  y[0] = all;
}
