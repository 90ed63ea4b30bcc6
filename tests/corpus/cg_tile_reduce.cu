//! kernelwright 1
//! task    segment_sums
//! input   x: int32[N]
//! output  y: int32[ceil_div(N, 16)]
//! output  top: int32[ceil_div(N, 16)]
//! when    true
//! launch  segment_sums grid(ceil_div(N, 128)) block(128) args(x, y, top, N)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void segment_sums(const int* x, int* y, int* top, int n) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * blockDim.x + block.thread_rank();
  int v = i < n ? x[i] : 0;
  int sum = cg::reduce(tile, v, cg::plus<int>());
  int most = cg::reduce(tile, i < n ? v : -2147483647 - 1, cg::greater<int>());
  int at = blockIdx.x * 8 + tile.meta_group_rank();
  if (tile.thread_rank() == 0 && at * 16 < n) {
    y[at] = sum;
    top[at] = most;
  }
}
