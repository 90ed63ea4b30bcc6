// arch: sm_89 sm_120a
// shows: mma tensor fp8_mma
extern "C" __global__ void probe(const unsigned* a, float* c) {
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a[threadIdx.x]), "r"(a[threadIdx.x + 32]), "r"(a[threadIdx.x + 64]), "r"(a[threadIdx.x + 96]),
        "r"(a[threadIdx.x + 128]), "r"(a[threadIdx.x + 160]));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
