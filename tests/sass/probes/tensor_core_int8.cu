// arch: sm_80 sm_89 sm_90a sm_100a sm_120a
// shows: mma tensor int8_mma
// hides: tf32_mma sparse_mma
extern "C" __global__ void probe(const unsigned* a, int* c) {
  int d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(a[threadIdx.x]), "r"(a[threadIdx.x + 32]), "r"(a[threadIdx.x + 64]), "r"(a[threadIdx.x + 96]),
        "r"(a[threadIdx.x + 128]), "r"(a[threadIdx.x + 160]));
  c[threadIdx.x] = d0 + d1 + d2 + d3;
}
