// arch: sm_100a sm_120a
// shows: fma
extern "C" __global__ void probe(unsigned long long* y, unsigned long long a) {
  unsigned long long v = y[threadIdx.x];
  asm("fma.rn.f32x2 %0, %0, %1, %1;" : "+l"(v) : "l"(a));
  y[threadIdx.x] = v;
}
