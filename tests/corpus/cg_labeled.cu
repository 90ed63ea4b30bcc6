//! kernelwright 1
//! task    group_ranks
//! input   x: int32[N]
//! output  rank: int32[N]
//! output  scan: int32[N]
//! output  total: int32[ceil_div(N, 64)]
//! when    true
//! launch  group_ranks grid(ceil_div(N, 64)) block(64) args(x, rank, scan, total, N)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Lanes whose values agree in two bits form a group; a whole warp scans; the block adds up.
__global__ void group_ranks(const int* x, int* rank, int* scan, int* total, int n) {
  __shared__ int sums[2];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int i = block.group_index().x * 64 + block.thread_rank();
  int v = i < n ? x[i] : 0;
  cg::coalesced_group same = cg::labeled_partition(warp, v & 3);
  int place = same.thread_rank() + 100 * same.size();
  int sum = cg::reduce(same, v, cg::plus<int>());
  int prefix = cg::inclusive_scan(warp, v);
  if (warp.thread_rank() == 31) sums[warp.meta_group_rank()] = prefix;
  block.sync();
  if (i < n) {
    rank[i] = place + 10000 * sum;
    scan[i] = prefix;
  }
  if (block.thread_rank() == 0) total[blockIdx.x] = sums[0] + sums[1];
}
