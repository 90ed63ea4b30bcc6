// arch: sm_90a sm_100a sm_120a
// shows: mbarrier
extern "C" __global__ void probe(int* y) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned b = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(b) : "memory");
  __syncthreads();
  unsigned done = 0;
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
  while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
  y[threadIdx.x] = 1;
}
