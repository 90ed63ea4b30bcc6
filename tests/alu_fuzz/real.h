// Exact arithmetic on decoded floats, rounded once at the end: the reference for every float
// instruction whose result the ISA defines. Integers only, no host floating point, so it shares
// nothing with the code it checks.
#pragma once

#include <array>
#include <cstdint>

namespace kw::alu_fuzz {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// A binary interchange format: 1 sign bit, then exponent and mantissa.
struct Format {
  int exponent = 8, mantissa = 23;
  uint64_t nan = 0x7fffffff;  // canonical
  bool operator==(const Format&) const = default;
  int bits() const { return 1 + exponent + mantissa; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint64_t sign() const { return uint64_t(1) << (bits() - 1); }
  uint64_t infinity() const { return ((uint64_t(1) << exponent) - 1) << mantissa; }
  uint64_t smallest_normal() const { return uint64_t(1) << mantissa; }
  bool is_nan(uint64_t x) const { return (x & (sign() - 1)) > infinity(); }
  bool is_subnormal(uint64_t x) const { return (x & infinity()) == 0 && (x & (sign() - 1)) != 0; }
};
inline constexpr Format kF16{5, 10, 0x7fff}, kBf16{8, 7, 0x7fff}, kF32{8, 23, 0x7fffffff},
    kF64{11, 52, 0xfff8000000000000};

enum class Mode { Nearest, Zero, Down, Up, NearestAway };

/// A natural number of 512 bits.
class Wide {
 public:
  Wide(uint64_t x = 0) { words_[0] = x; }
  static Wide product(uint64_t a, uint64_t b);
  bool is_zero() const { return top() < 0; }
  int top() const;  // position of the highest set bit, -1 for zero
  bool bit(int n) const { return n >= 0 && n < 512 && (words_[n / 64] >> (n % 64) & 1) != 0; }
  bool any_below(int n) const;   // a set bit below position n
  Wide shifted(int left) const;  // negative: right, dropping bits
  uint64_t low() const { return words_[0]; }
  Wide plus(const Wide& other) const;
  Wide minus(const Wide& other) const;  // other must not be larger
  bool less(const Wide& other) const;

 private:
  std::array<uint64_t, 8> words_{};
};

/// n * 2^e, or a special value. `beyond`: the true magnitude is a little larger than n says.
struct Real {
  enum class Kind { Finite, Infinite, Nan } kind = Kind::Finite;
  bool negative = false;
  Wide n;
  int e = 0;
  bool beyond = false;
  bool is_zero() const { return kind == Kind::Finite && n.is_zero(); }
};

Real decode(const Format& format, uint64_t bits);
Real from_integer(Int128 x);
Real negated(Real x);
/// `mode` decides the sign of an exact zero.
Real add(const Real& a, const Real& b, Mode mode);
Real mul(const Real& a, const Real& b);
Real div(const Real& a, const Real& b);
Real sqrt(const Real& a);
/// Negative, zero or positive; the operands must not be NaN.
int compare(const Real& a, const Real& b);

/// Rounded once. NaN gives the canonical one.
uint64_t encode(const Format& format, const Real& x, Mode mode, bool satfinite = false);

/// Rounded to an integer and limited to [low, high]. Not for NaN.
Int128 to_integer(const Real& x, Mode mode, Int128 low, Int128 high);
/// Rounded to an integral value of the same sign.
Real to_integral(const Real& x, Mode mode);

}  // namespace kw::alu_fuzz
