// expect: tiles of more than 32 threads need NVRTC
#include <cooperative_groups.h>
__global__ void k(int* y) {
  auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
  y[0] = tile.thread_rank();
}
