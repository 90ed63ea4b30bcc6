// arch: sm_120a
// shows: mma tensor block_scaled_mma
extern "C" __global__ void probe(const unsigned* a, float* c, unsigned sa, unsigned sb) {
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, %10, {0, 0}, %11, {0, 0};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a[threadIdx.x]), "r"(a[threadIdx.x + 32]), "r"(a[threadIdx.x + 64]), "r"(a[threadIdx.x + 96]),
        "r"(a[threadIdx.x + 128]), "r"(a[threadIdx.x + 160]), "r"(sa), "r"(sb));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
