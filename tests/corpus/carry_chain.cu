//! kernelwright 1
//! task    wide_integers
//! input   a: uint32[N, 4]
//! input   b: uint32[N, 4]
//! output  sum: uint32[N, 4]
//! output  difference: uint32[N, 4]
//! output  product: uint64[N, 2]
//! when    true
//! launch  wide_integers grid(ceil_div(N, 32)) block(32) args(a, b, sum, difference, product, N)

__global__ void wide_integers(const unsigned* a, const unsigned* b, unsigned* sum, unsigned* difference,
                              unsigned long long* product, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 u = reinterpret_cast<const uint4*>(a)[i], v = reinterpret_cast<const uint4*>(b)[i], s, d;
  asm("add.cc.u32 %0, %4, %8;\n\t"
      "addc.cc.u32 %1, %5, %9;\n\t"
      "addc.cc.u32 %2, %6, %10;\n\t"
      "addc.u32 %3, %7, %11;"
      : "=r"(s.x), "=r"(s.y), "=r"(s.z), "=r"(s.w)
      : "r"(u.x), "r"(u.y), "r"(u.z), "r"(u.w), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
  asm("sub.cc.u32 %0, %4, %8;\n\t"
      "subc.cc.u32 %1, %5, %9;\n\t"
      "subc.cc.u32 %2, %6, %10;\n\t"
      "subc.u32 %3, %7, %11;"
      : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
      : "r"(u.x), "r"(u.y), "r"(u.z), "r"(u.w), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
  reinterpret_cast<uint4*>(sum)[i] = s;
  reinterpret_cast<uint4*>(difference)[i] = d;
  unsigned long long left = (unsigned long long)u.y << 32 | u.x, right = (unsigned long long)v.y << 32 | v.x;
  unsigned low, mid, high, top;
  asm("mul.lo.u32 %0, %4, %6;\n\t"
      "mul.hi.u32 %1, %4, %6;\n\t"
      "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
      "madc.hi.u32 %2, %5, %6, 0;\n\t"
      "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
      "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
      "addc.u32 %3, 0, 0;\n\t"
      "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
      "madc.hi.u32 %3, %5, %7, %3;"
      : "=&r"(low), "=&r"(mid), "=&r"(high), "=&r"(top)
      : "r"((unsigned)left), "r"((unsigned)(left >> 32)), "r"((unsigned)right), "r"((unsigned)(right >> 32)));
  product[2 * i] = (unsigned long long)mid << 32 | low;
  product[2 * i + 1] = (unsigned long long)top << 32 | high;
}
