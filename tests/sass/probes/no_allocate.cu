// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: hinted_access
extern "C" __global__ void probe(const float* x, float* y) {
  float v;
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(x + threadIdx.x));
  asm volatile("st.global.L1::no_allocate.f32 [%0], %1;" :: "l"(y + threadIdx.x), "f"(v));
}
