//! kernelwright 1
//! task    bit_tricks
//! input   a: uint32[N]
//! input   b: uint32[N]
//! output  y: uint32[16, N]
//! output  wide: uint64[N]
//! when    true
//! launch  bit_tricks grid(ceil_div(N, 64)) block(64) args(a, b, y, wide, N)

__global__ void bit_tricks(const unsigned* a, const unsigned* b, unsigned* y, unsigned long long* wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned u = a[i], v = b[i], w = u ^ 0x5bd1e995u, r;
  unsigned long long l;
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(r) : "r"(u), "r"(v), "r"(w));
  y[0 * n + i] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(u), "r"(v), "r"(w));
  y[1 * n + i] = r;
  asm("prmt.b32 %0, %1, %2, 0x7531;" : "=r"(r) : "r"(u), "r"(v));
  y[2 * n + i] = r;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(v & 0xffffu));
  y[3 * n + i] = r;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(v));
  y[4 * n + i] = r;
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(v & 63u));
  y[5 * n + i] = r;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v & 31u), "r"((v >> 5) & 31u));
  y[6 * n + i] = r;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v & 31u), "r"((v >> 5) & 31u));
  y[7 * n + i] = r;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(u), "r"(w), "r"(v & 31u), "r"((v >> 5) & 31u));
  y[8 * n + i] = r;
  y[9 * n + i] = __popc(u) + 64 * __clz(v) + 4096 * __ffs(u);
  y[10 * n + i] = __brev(u);
  asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(u));
  y[11 * n + i] = r;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(w));
  y[12 * n + i] = r;
  asm("mad24.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(u), "r"(v), "r"(w));
  y[13 * n + i] = r;
  y[14 * n + i] = (unsigned)__dp4a((int)u, (int)v, (int)w);
  y[15 * n + i] = __byte_perm(u, v, 0x3614) + __funnelshift_l(u, v, 11) + __umulhi(u, v) + (unsigned)__mulhi((int)u, (int)v);
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(l) : "r"(u), "r"(v), "l"((unsigned long long)w << 16));
  wide[i] = l;
}
