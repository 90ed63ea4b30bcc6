// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: barrier
extern "C" __global__ void probe(int* y) {
  __shared__ alignas(8) unsigned long long bar;
  const unsigned b = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" :: "r"(b) : "memory");
  __syncthreads();
  unsigned long long state; unsigned done = 0;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
  while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state) : "memory");
  y[threadIdx.x] = 1;
}
