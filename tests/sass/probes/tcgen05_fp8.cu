// arch: sm_100a
// shows: tensor fp8_mma
extern "C" __global__ void probe(unsigned tmem, unsigned long long a, unsigned long long b, unsigned idesc) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }"
      :: "r"(tmem), "l"(a), "l"(b), "r"(idesc) : "memory");
}
