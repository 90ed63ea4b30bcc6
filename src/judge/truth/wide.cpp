#include "truth/wide.h"

#include <cmath>
#include <limits>

namespace kw::truth {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMostExponent = 0x1p1020;  // of an exponent; beyond it a value is infinite or 0
constexpr long double kLog2E = 1.442695040888963407359924681001892137L;
constexpr double kLn2 = 0.693147180559945309417232121458176568;

}  // namespace

void Wide::finalize_rare() {
  if (mantissa_ == 0 || !std::isfinite(mantissa_)) {
    exponent_ = 0;
    return;
  }
  int shift = 0;
  mantissa_ = 2 * std::frexp(mantissa_, &shift);
  exponent_ += shift - 1;
  if (exponent_ > kMostExponent) *this = Wide(std::copysign(kInf, mantissa_));
  if (exponent_ < -kMostExponent) *this = Wide(std::copysign(0.0, mantissa_));
}

double Wide::value() const {
  if (mantissa_ == 0 || !std::isfinite(mantissa_)) return mantissa_;
  if (exponent_ > 1023) return std::copysign(kInf, mantissa_);
  if (exponent_ < -1080) return std::copysign(0.0, mantissa_);
  return std::ldexp(mantissa_, static_cast<int>(exponent_));
}

bool operator<(const Wide& a, const Wide& b) {
  if (a.nan() || b.nan()) return false;
  const bool simple = !a.finite() || !b.finite() || a.zero() || b.zero() ||
                      a.negative() != b.negative() || a.exponent_ == b.exponent_;
  if (simple) return a.mantissa_ < b.mantissa_;
  return (a.exponent_ < b.exponent_) != a.negative();
}

Wide abs(const Wide& x) { return Wide(std::fabs(x.mantissa()), x.exponent()); }

Wide larger(const Wide& x, const Wide& z) { return x > z ? x : z; }

Wide sqrt(const Wide& x) {
  if (!x.finite() || x.zero() || x.negative()) return Wide(std::sqrt(x.mantissa()));
  const double half = std::floor(x.exponent() / 2);
  const bool odd = x.exponent() - 2 * half != 0;
  return Wide(std::sqrt(odd ? 2 * x.mantissa() : x.mantissa()), half);
}

namespace {

Wide power_of(long double exponent) {
  if (!(std::fabs(exponent) < static_cast<long double>(kMostExponent)))
    return Wide(exponent > 0 ? kInf : 0);
  const long double whole = std::floor(exponent);
  return Wide(std::exp2(static_cast<double>(exponent - whole)), static_cast<double>(whole));
}

}  // namespace

Wide power_of_two(const Wide& x) {
  if (x.nan()) return x;
  return power_of(static_cast<long double>(x.value()));
}

Wide exp(const Wide& x) {
  if (x.nan()) return x;
  return power_of(kLog2E * static_cast<long double>(x.value()));
}

Wide log(const Wide& x) {
  if (!x.finite() || x.zero() || x.negative()) return Wide(std::log(x.mantissa()));
  // Next to 1 the two parts would cancel.
  if (std::fabs(x.exponent()) <= 1) return Wide(std::log(x.value()));
  return Wide(x.exponent() * kLn2 + std::log(x.mantissa()));
}

}  // namespace kw::truth
