// binary64 arithmetic. A NaN result is a NaN operand made quiet, with its sign and payload. Which
// one of several is the hardware's choice (measured on an H200). Written for round to nearest;
// other modes run under another MXCSR (adapters.cpp).
#include <cmath>

#include "isa/float_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

inline constexpr uint64_t kQuiet = 0x0008000000000000u;
inline constexpr uint64_t kDefaultNan = 0xfff8000000000000u;

// The host picks a payload by operand order, which a compiler may swap. So this picks explicitly:
// the first NaN of those listed.
KW_LANE double with_nan(double result, double a) {
  const double nan = as_double(a != a ? bits(a) | kQuiet : kDefaultNan);
  return result != result ? nan : result;
}
KW_LANE double with_nan(double result, double a, double b) {
  const double second = as_double(b != b ? bits(b) | kQuiet : kDefaultNan);
  const double nan = a != a ? as_double(bits(a) | kQuiet) : second;
  return result != result ? nan : result;
}
KW_LANE double with_nan(double result, double a, double b, double c) {
  const double third = as_double(c != c ? bits(c) | kQuiet : kDefaultNan);
  const double second = b != b ? as_double(bits(b) | kQuiet) : third;
  const double nan = a != a ? as_double(bits(a) | kQuiet) : second;
  return result != result ? nan : result;
}

KW_LANE double add(double a, double b) { return with_nan(a + b, b, a); }
KW_LANE double sub(double a, double b) { return with_nan(a - b, b, a); }
KW_LANE double mul(double a, double b) { return with_nan(a * b, b, a); }
KW_LANE double fma(double a, double b, double c) {
  return with_nan(__builtin_fma(a, b, c), b, c, a);
}
KW_LANE double div(double a, double b) { return with_nan(a / b, a, b); }
KW_LANE double rcp(double a) { return with_nan(1.0 / a, a); }
KW_LANE double square_root(double a) { return with_nan(__builtin_sqrt(a), a); }
// abs and neg are additions on hardware: the sign of a NaN stays.
KW_LANE double absolute(double a) {
  const uint64_t x = bits(a);
  return as_double(a != a ? x | kQuiet : x & 0x7fffffffffffffffu);
}
KW_LANE double neg(double a) {
  const uint64_t x = bits(a);
  return as_double(a != a ? x | kQuiet : x ^ 0x8000000000000000u);
}
KW_LANE double copysign(double a, double b) {
  return as_double((bits(a) & 0x8000000000000000u) | (bits(b) & 0x7fffffffffffffffu));
}
template <bool kMax>
KW_LANE double extreme2(double a, double b) {
  return extreme<kMax, NanRule::Other>(a, b, as_double(bits(b) | kQuiet));
}

constexpr Row kRows[] = {
    {"add.f64", map<add>},
    {"sub.f64", map<sub>},
    {"mul.f64", map<mul>},
    {"fma.f64", map<fma>},
    {"div.f64", map<div>},
    {"rcp.f64", map<rcp>},
    {"sqrt.f64", map<square_root>},
    {"abs.f64", map<absolute>},
    {"neg.f64", map<neg>},
    {"copysign.f64", map<copysign>},
    {"min.f64", map<extreme2<false>>},
    {"max.f64", map<extreme2<true>>},
};

}  // namespace

std::span<const Row> double_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
