// Stands in for device/kw/integer.h on the host.
#pragma once

#include <kw/base.h>

KW_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}
KW_FN int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
