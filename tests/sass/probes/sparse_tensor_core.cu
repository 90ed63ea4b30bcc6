// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: mma tensor sparse_mma
extern "C" __global__ void probe(const unsigned* a, float* c) {
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a[threadIdx.x]), "r"(a[threadIdx.x + 32]), "r"(a[threadIdx.x + 64]), "r"(a[threadIdx.x + 96]),
        "r"(a[threadIdx.x + 128]), "r"(a[threadIdx.x + 160]), "r"(a[threadIdx.x + 192]), "r"(a[threadIdx.x + 224]), "r"(a[threadIdx.x + 256]));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
