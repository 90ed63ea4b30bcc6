// A number with the precision of fp64 and an exponent that is itself a double: exp(1e5) and
// exp(-3e38) are ordinary values. Slow; only for elements that fp64 cannot compute.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kw::truth {

/// mantissa * 2^exponent, with 1 <= |mantissa| < 2; zero, infinities and NaN have exponent 0.
class Wide {
 public:
  Wide() = default;
  Wide(double value) : mantissa_(value) { finalize(); }  // NOLINT: a number like any other
  Wide(double mantissa, double exponent) : mantissa_(mantissa), exponent_(exponent) { finalize(); }

  double mantissa() const { return mantissa_; }
  double exponent() const { return exponent_; }
  bool finite() const { return mantissa_ - mantissa_ == 0; }
  bool nan() const { return mantissa_ != mantissa_; }
  bool zero() const { return mantissa_ == 0; }
  bool negative() const { return mantissa_ < 0; }
  /// Infinite or zero beyond the range of fp64.
  double value() const;

  Wide operator-() const { return Wide(-mantissa_, exponent_); }
  friend Wide operator*(const Wide& a, const Wide& b) {
    return Wide(a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_);
  }
  friend Wide operator/(const Wide& a, const Wide& b) {
    return Wide(a.mantissa_ / b.mantissa_, a.exponent_ - b.exponent_);
  }
  friend Wide operator+(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a, const Wide& b) { return a + -b; }
  /// False if one of them is NaN.
  friend bool operator<(const Wide& a, const Wide& b);
  friend bool operator>(const Wide& a, const Wide& b) { return b < a; }
  friend bool operator==(const Wide& a, const Wide& b) {
    return a.mantissa_ == b.mantissa_ && a.exponent_ == b.exponent_;
  }

 private:
  static constexpr int kMantissaBits = 52, kBias = 1023;

  /// Ordinary numbers here, inline: frexp() takes longer than all else in a sum.
  void finalize() {
    const auto bits = std::bit_cast<uint64_t>(mantissa_);
    const int biased = static_cast<int>(bits >> kMantissaBits) & 0x7ff;
    if (biased == 0 || biased == 0x7ff || !(std::fabs(exponent_) < 0x1p1019)) {
      finalize_rare();
      return;
    }
    constexpr uint64_t kKept = ~(uint64_t{0x7ff} << kMantissaBits);
    mantissa_ = std::bit_cast<double>((bits & kKept) | uint64_t{kBias} << kMantissaBits);
    exponent_ += biased - kBias;
  }
  void finalize_rare();
  /// 2^-places, for results that are not subnormal.
  static double down_by(int places) {
    return std::bit_cast<double>(static_cast<uint64_t>(kBias - places) << kMantissaBits);
  }

  double mantissa_ = 0, exponent_ = 0;
};

inline Wide operator+(const Wide& a, const Wide& b) {
  if (!a.finite() || !b.finite() || (a.zero() && b.zero())) return Wide(a.mantissa_ + b.mantissa_);
  if (a.zero()) return b;
  if (b.zero()) return a;
  constexpr double kFar = 1000;  // a term this many binary places below has no effect
  const bool first = a.exponent_ >= b.exponent_;
  const Wide &large = first ? a : b, &small = first ? b : a;
  const double apart = large.exponent_ - small.exponent_;
  if (apart > kFar) return large;
  return Wide(large.mantissa_ + small.mantissa_ * Wide::down_by(static_cast<int>(apart)),
              large.exponent_);
}

Wide abs(const Wide& x);
Wide larger(const Wide& x, const Wide& z);
Wide sqrt(const Wide& x);
Wide exp(const Wide& x);
/// 2^x.
Wide power_of_two(const Wide& x);
/// Natural; NaN for negative numbers, -inf for 0.
Wide log(const Wide& x);

}  // namespace kw::truth
