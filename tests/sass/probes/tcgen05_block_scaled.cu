// arch: sm_100a
// shows: tensor block_scaled_mma
extern "C" __global__ void probe(unsigned tmem, unsigned long long a, unsigned long long b, unsigned idesc, unsigned sa, unsigned sb) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p; }"
      :: "r"(tmem), "l"(a), "l"(b), "r"(idesc), "r"(sa), "r"(sb) : "memory");
}
