//! kernelwright 1
//! task    rare_instructions
//! input   a: uint32[N]
//! input   b: uint32[N]
//! output  y: uint32[14, N]
//! output  w: uint64[5, N]
//! when    true
//! launch  rare_instructions grid(ceil_div(N, 64)) block(64) args(a, b, y, w, N)

__global__ void rare_instructions(const unsigned* a, const unsigned* b, unsigned* y, unsigned long long* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned u = a[i], v = b[i], r;
  unsigned long long p = (unsigned long long)v << 32 | u, q = (unsigned long long)u << 32 | (v ^ 0xffffu), l;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(u & 31u), "r"(v & 63u));
  y[0 * n + i] = r;
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(u), "r"(v & 63u));
  y[1 * n + i] = r;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(7u));
  y[2 * n + i] = r;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v & 31u), "r"(1 + (int)(v >> 29)));
  y[3 * n + i] = r;
  asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(u & 1u));
  y[4 * n + i] = r;
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"((int)(u ^ v)));
  y[5 * n + i] = r;
  asm("set.gt.u32.s32 %0, %1, %2;" : "=r"(r) : "r"((int)u), "r"((int)v));
  y[6 * n + i] = r;
  asm("mul24.hi.s32 %0, %1, %2;" : "=r"(r) : "r"((int)(u << 8) >> 8), "r"((int)(v << 8) >> 8));
  y[7 * n + i] = r;
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(r) : "r"(u));
  y[8 * n + i] = r;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(u & 3u));
  y[9 * n + i] = r;
  asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(u & 3u));
  y[10 * n + i] = r;
  asm("{\n\t"
      ".reg .pred p, q, c;\n\t"
      "setp.ne.u32 c, %2, 0;\n\t"
      "setp.lt.and.u32 p|q, %1, %2, c;\n\t"
      "selp.u32 %0, 5, 9, p;\n\t"
      "@q add.u32 %0, %0, 100;\n\t"
      "}"
      : "=r"(r)
      : "r"(u & 15u), "r"(v & 15u));
  y[11 * n + i] = r;
  asm("{\n\t.reg .b16 lo, hi;\n\tmov.b32 {lo, hi}, %1;\n\tmov.b32 %0, {hi, lo};\n\t}" : "=r"(r) : "r"(u));
  y[12 * n + i] = r;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(u >> 1), "r"(v >> 1), "r"(u));
  y[13 * n + i] = r;
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(l) : "l"(p), "r"(u & 63u), "r"((u >> 6) & 63u));
  w[0 * n + i] = l;
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(l) : "l"(p), "l"(q), "r"(v & 63u), "r"((v >> 6) & 63u));
  w[1 * n + i] = l;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(l) : "l"(p), "l"(q));
  w[2 * n + i] = l;
  asm("mad.hi.u64 %0, %1, %2, %3;" : "=l"(l) : "l"(p), "l"(q), "l"(p));
  w[3 * n + i] = l;
  asm("shr.s64 %0, %1, %2;" : "=l"(l) : "l"(p), "r"(u & 127u));
  w[4 * n + i] = l;
}
