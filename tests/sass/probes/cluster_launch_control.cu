// arch: sm_100a sm_120a
// shows: cluster_launch_control
extern "C" __global__ void probe(unsigned* y) {
  __shared__ alignas(16) uint4 answer;
  __shared__ alignas(8) unsigned long long bar;
  const unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(&answer)), b = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" :: "r"(a), "r"(b) : "memory");
  __syncthreads();
  y[threadIdx.x] = answer.x;
}
