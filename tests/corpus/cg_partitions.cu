//! kernelwright 1
//! task    parts
//! input   x: int32[B, 64]
//! output  whole: int32[B, 64]
//! output  signs: int32[B, 64]
//! output  labels: int32[B, 64]
//! when    true
//! launch  parts grid(B) block(64) args(x, whole, signs, labels)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Tiles of tiles, split by sign and by label: a part never reaches beyond its tile.
__global__ void parts(const int* x, int* whole, int* signs, int* labels) {
  cg::thread_block block = cg::this_thread_block();
  auto half = cg::tiled_partition<16>(block);
  auto quad = cg::tiled_partition<4>(half);
  int i = blockIdx.x * 64 + block.thread_rank();
  int v = x[i];
  int sum = cg::reduce(half, v, cg::plus<int>());
  whole[i] = sum + 1000 * half.meta_group_rank() + 10 * quad.meta_group_rank() + quad.meta_group_size();
  cg::coalesced_group same = cg::binary_partition(half, v > 0);
  signs[i] = 100 * cg::reduce(same, v, cg::greater<int>()) + 10 * same.meta_group_rank() + same.size();
  cg::coalesced_group third = cg::labeled_partition(half, (v + 300) % 3);
  labels[i] = cg::reduce(third, v, cg::plus<int>()) + 10000 * third.meta_group_rank() + 1000 * third.meta_group_size() +
              100000 * third.thread_rank();
}
