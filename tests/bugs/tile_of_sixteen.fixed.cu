//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  reverse grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: a tile of 16 threads synchronises, but what it reads was written by the other tile.
#include <cooperative_groups.h>

__global__ void reverse(const int* x, int* y) {
  namespace cg = cooperative_groups;
  __shared__ int s[32];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 32 + t];
  tile.sync();
  y[blockIdx.x * 32 + t] = s[31 - t];
}
