// arch: sm_90a sm_100a
// shows: tma tma_im2col
struct alignas(64) Map { char b[128]; };
extern "C" __global__ void probe(const __grid_constant__ Map map, int* y) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) unsigned long long bar;
  const unsigned b = static_cast<unsigned>(__cvta_generic_to_shared(&bar)), t = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
        :: "r"(t), "l"(&map), "r"(0), "r"(0), "r"(0), "r"(blockIdx.x), "r"(b), "h"((short)1), "h"((short)1) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}
