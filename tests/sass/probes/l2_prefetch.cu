// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: l2_prefetch
extern "C" __global__ void probe(const float* x, float* y) {
  asm volatile("prefetch.global.L2 [%0];" :: "l"(x + 4096 + threadIdx.x));
  y[threadIdx.x] = x[threadIdx.x];
}
