// A number with the precision of fp64 and an exponent that is itself a double: exp(1e5) and
// exp(-3e38) are ordinary values. Slow; only for elements that fp64 cannot compute.
#pragma once

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
  void finalize();

  double mantissa_ = 0, exponent_ = 0;
};

Wide abs(const Wide& x);
Wide larger(const Wide& x, const Wide& z);
Wide sqrt(const Wide& x);
Wide exp(const Wide& x);
/// 2^x.
Wide power_of_two(const Wide& x);
/// Natural; NaN for negative numbers, -inf for 0.
Wide log(const Wide& x);

}  // namespace kw::truth
