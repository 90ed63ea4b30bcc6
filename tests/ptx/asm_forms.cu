// Hand-written PTX: scopes with shadowed names, labels, cache hints, predicate pairs, constant
// expressions.
__device__ __noinline__ float helper(float x, int n) { return n > 0 ? x * n : x; }
using Fn = float (*)(float, int);
__device__ Fn table[2] = {helper, nullptr};
__constant__ float weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ const char* names[2] = {"one", "two"};
__global__ void __launch_bounds__(128, 2) asm_forms(const float* x, float* y, int n, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, r, q;
  asm volatile(
      "{ .reg .pred p, q; .reg .b32 t<3>, r; setp.lt.and.s32 p|q, %1, %2, !p; mov.u32 t0, "
      "(1<<3)|0x10U; @!q bra DONE; add.s32 t0, t0, -WARP_SZ; DONE: shl.b32 r, t0, 2; mov.b32 %0, "
      "r; }"
      : "=r"(r)
      : "r"(i), "r"(n));
  asm volatile(
      "{ .reg .pred p; .reg .b32 r; setp.ne.s32 p, %1, 07; mov.b32 r, 0b101; { .reg .b32 r; "
      "mov.b32 r, %%laneid; } @p bra DONE; mov.b32 r, 1; DONE: mov.b32 %0, r; }"
      : "=r"(q)
      : "r"(i));
  float4 v;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4+16];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(x + i));
  const float s = table[which & 1](v.x, n) + weights[which & 1][n] + names[which][i & 3];
  switch (n) {
    case 0:
      y[1] = 2;
      break;
    case 1:
      y[2] = s;
      break;
    case 2:
      y[5] = 1;
      break;
    case 3:
      y[9] = r;
      break;
    case 4:
      y[11] = q;
      break;
    case 5:
      y[12] = helper(v.y, n);
      break;
    case 6:
      y[7] = 1;
    case 7:
      y[3] = __shfl_xor_sync(~0u, s, 3);
      break;
  }
  y[i] = s + v.z + v.w;
}
