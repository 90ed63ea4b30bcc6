// arch: sm_90a sm_100a sm_120a
// shows: async_copy
// hides: tma
extern "C" __global__ void probe(const int* x, int* y) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) unsigned long long bar;
  const unsigned b = static_cast<unsigned>(__cvta_generic_to_shared(&bar)), t = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(t), "l"(x), "r"(b) : "memory");
  y[threadIdx.x] = tile[threadIdx.x];
}
