// arch: sm_90a sm_100a sm_120a
// shows: cluster_barrier
extern "C" __global__ void __cluster_dims__(2, 1, 1) probe(int* y) {
  __shared__ int tile[256];
  tile[threadIdx.x] = y[threadIdx.x];
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x])), there; int v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(there) : "r"(at));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  y[threadIdx.x] = v;
}
