// Single precision: rounding, scaling, remainders.
#pragma once

#include <kw/exp_float.h>

KW_FN float floorf(float x) { return __builtin_floorf(x); }
KW_FN float ceilf(float x) { return __builtin_ceilf(x); }
KW_FN float truncf(float x) { return __builtin_truncf(x); }
KW_FN float nearbyintf(float x) { return __builtin_rintf(x); }
KW_FN float roundf(float x) {
  const float t = truncf(x);
  return fabsf(x - t) >= 0.5f ? t + copysignf(1.0f, x) : copysignf(t, x);
}
KW_FN long lrintf(float x) { return __float2ll_rn(x); }
KW_FN long long llrintf(float x) { return __float2ll_rn(x); }
KW_FN long lroundf(float x) { return __float2ll_rn(roundf(x)); }
KW_FN long long llroundf(float x) { return __float2ll_rn(roundf(x)); }
KW_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
KW_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
KW_FN float fdimf(float a, float b) { return a > b || a != a || b != b ? a - b : 0.0f; }
KW_FN float frexpf(float x, int* e) {
  *e = 0;
  if (x == 0.0f || !(fabsf(x) < __builtin_inff())) return x;
  const bool tiny = fabsf(x) < 1.17549435e-38f;
  const int bits = __float_as_int(tiny ? x * 16777216.0f : x);
  *e = ((bits >> 23) & 255) - (tiny ? 150 : 126);
  return __int_as_float((bits & 0x807fffff) | 0x3f000000);
}
KW_FN float ldexpf(float x, int n) {
  n = n > 290 ? 290 : n < -290 ? -290 : n;
  const int first = n / 3,
            last = n - 2 * first;  // three steps reach from the largest to the smallest number
  const float a = __int_as_float((first + 127) << 23), b = __int_as_float((last + 127) << 23);
  return n < 0 ? x * b * a * a : x * a * a * b;
}
KW_FN float scalbnf(float x, int n) { return ldexpf(x, n); }
KW_FN float scalblnf(float x, long n) {
  return ldexpf(x, n > 999 ? 999 : n < -999 ? -999 : static_cast<int>(n));
}
KW_FN int ilogbf(float x) {
  int e;
  frexpf(x, &e);
  return x == 0.0f                      ? -2147483647 - 1
         : x != x                       ? -2147483647 - 1
         : fabsf(x) == __builtin_inff() ? 2147483647
                                        : e - 1;
}
KW_FN float logbf(float x) {
  const float a = fabsf(x);
  return a == 0.0f              ? -__builtin_inff()
         : a < __builtin_inff() ? static_cast<float>(ilogbf(x))
                                : x * x;
}
KW_FN float modff(float x, float* whole) {
  *whole = truncf(x);
  return copysignf(fabsf(x) == __builtin_inff() ? 0.0f : x - *whole, x);
}
KW_FN float nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return copysignf(1.40129846e-45f, y);
  return __int_as_float(__float_as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}
KW_FN float nanf(const char*) { return __builtin_nanf(""); }

// |x| mod |y| exactly, 32 bits of the quotient at a time; also the low bits of the quotient.
KW_MATH float kw_remainder_parts(float a, float b, unsigned& quotient) {
  int ea, eb;
  const unsigned long long ma = static_cast<unsigned long long>(frexpf(a, &ea) * 16777216.0f);
  const unsigned long long mb = static_cast<unsigned long long>(frexpf(b, &eb) * 16777216.0f);
  quotient = 0;
  if (a < b) return a;
  unsigned long long r = ma % mb;
  unsigned long long q = ma / mb;
  for (int left = ea - eb; left > 0;) {
    const int step = left > 32 ? 32 : left;
    r <<= step;
    q = q << step | r / mb;
    r %= mb;
    left -= step;
  }
  quotient = static_cast<unsigned>(q);
  return ldexpf(static_cast<float>(r), eb - 24);
}
KW_FN bool kw_no_remainder(float x, float y) {
  return !(fabsf(x) < __builtin_inff()) || y == 0.0f || y != y;
}
KW_MATH float fmodf(float x, float y) {
  if (kw_no_remainder(x, y)) return __builtin_nanf("");
  if (fabsf(y) == __builtin_inff()) return x;
  unsigned q;
  return copysignf(kw_remainder_parts(fabsf(x), fabsf(y), q), x);
}
KW_MATH float remquof(float x, float y, int* quotient) {
  *quotient = 0;
  if (kw_no_remainder(x, y)) return __builtin_nanf("");
  const float b = fabsf(y);
  if (b == __builtin_inff()) return x;
  unsigned q;
  float r = kw_remainder_parts(fabsf(x), b, q);
  const bool up = b < 2.3509887e-38f ? 2.0f * r > b || (2.0f * r == b && (q & 1) != 0)
                                     : r > 0.5f * b || (r == 0.5f * b && (q & 1) != 0);
  if (up) {
    r -= b;
    ++q;
  }
  const int low = static_cast<int>(q & 0x7fffffff);
  *quotient = (__float_as_int(x) ^ __float_as_int(y)) < 0 ? -low : low;
  return __float_as_int(x) < 0 ? -r : r;
}
KW_FN float remainderf(float x, float y) {
  int q;
  return remquof(x, y, &q);
}
