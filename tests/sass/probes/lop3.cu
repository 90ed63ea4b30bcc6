// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: logic3
extern "C" __global__ void probe(unsigned* y, unsigned a) {
  unsigned v = y[threadIdx.x], r;
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(r) : "r"(v));
  y[threadIdx.x] = r ^ ((v & a) | (~v & 0xff00ff));
}
