#include "real.h"

#include <algorithm>
#include <bit>

namespace kw::alu_fuzz {

Wide Wide::product(uint64_t a, uint64_t b) {
  const UInt128 p = static_cast<UInt128>(a) * b;
  Wide out(static_cast<uint64_t>(p));
  out.words_[1] = static_cast<uint64_t>(p >> 64);
  return out;
}

int Wide::top() const {
  for (int i = 7; i >= 0; --i)
    if (words_[static_cast<size_t>(i)] != 0)
      return 64 * i + 63 - std::countl_zero(words_[static_cast<size_t>(i)]);
  return -1;
}

bool Wide::any_below(int n) const {
  for (int i = 0; i < 8; ++i) {
    const int inside = std::clamp(n - 64 * i, 0, 64);
    const uint64_t mask = inside == 64 ? ~uint64_t(0) : (uint64_t(1) << inside) - 1;
    if ((words_[static_cast<size_t>(i)] & mask) != 0) return true;
  }
  return false;
}

Wide Wide::shifted(int left) const {
  const auto word = [this](int i) { return i < 0 || i > 7 ? 0 : words_[static_cast<size_t>(i)]; };
  const int whole = left >= 0 ? left / 64 : -((63 - left) / 64), part = left - 64 * whole;
  Wide out;
  for (int i = 0; i < 8; ++i)
    out.words_[static_cast<size_t>(i)] =
        part == 0 ? word(i - whole) : word(i - whole) << part | word(i - whole - 1) >> (64 - part);
  return out;
}

Wide Wide::plus(const Wide& other) const {
  Wide out;
  uint64_t carry = 0;
  for (size_t i = 0; i < 8; ++i) {
    const UInt128 sum = static_cast<UInt128>(words_[i]) + other.words_[i] + carry;
    out.words_[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> 64);
  }
  return out;
}

Wide Wide::minus(const Wide& other) const {
  Wide out;
  uint64_t borrow = 0;
  for (size_t i = 0; i < 8; ++i) {
    const UInt128 difference = static_cast<UInt128>(words_[i]) - other.words_[i] - borrow;
    out.words_[i] = static_cast<uint64_t>(difference);
    borrow = static_cast<uint64_t>(difference >> 64) & 1;
  }
  return out;
}

bool Wide::less(const Wide& other) const {
  for (size_t i = 8; i-- > 0;)
    if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
  return false;
}

Real decode(const Format& format, uint64_t bits) {
  Real x;
  x.negative = (bits & format.sign()) != 0;
  const uint64_t magnitude = bits & (format.sign() - 1);
  if (magnitude >= format.infinity()) {
    x.kind = magnitude == format.infinity() ? Real::Kind::Infinite : Real::Kind::Nan;
    return x;
  }
  const int exponent = static_cast<int>(magnitude >> format.mantissa);
  const uint64_t fraction = magnitude & (format.smallest_normal() - 1);
  x.n = Wide(exponent == 0 ? fraction : fraction | format.smallest_normal());
  x.e = std::max(exponent, 1) - format.bias() - format.mantissa;
  return x;
}

Real from_integer(Int128 value) {
  Real x;
  x.negative = value < 0;
  const UInt128 magnitude = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  x.n = Wide(static_cast<uint64_t>(magnitude >> 64))
            .shifted(64)
            .plus(Wide(static_cast<uint64_t>(magnitude)));
  return x;
}

Real negated(Real x) {
  x.negative = !x.negative;
  return x;
}

namespace {

Real nan() {
  Real x;
  x.kind = Real::Kind::Nan;
  return x;
}
Real infinite(bool negative) {
  Real x;
  x.kind = Real::Kind::Infinite;
  x.negative = negative;
  return x;
}
Real zero(bool negative) {
  Real x;
  x.negative = negative;
  return x;
}
bool is_nan(const Real& x) { return x.kind == Real::Kind::Nan; }
bool is_infinite(const Real& x) { return x.kind == Real::Kind::Infinite; }

/// Exponent of the highest bit.
int scale(const Real& x) { return x.e + x.n.top(); }

/// Far below the other operand nothing but "not zero" matters: bring it near enough to fit.
Real brought_near(const Real& small, const Real& large) {
  constexpr int kGap = 140;
  if (scale(small) >= large.e - kGap) return small;
  Real near = small;
  near.n = Wide(1);
  near.e = large.e - kGap;
  return near;
}

/// The significand moved to 53 bits.
Real normalised(const Real& x) {
  Real out = x;
  const int left = 52 - x.n.top();
  out.n = x.n.shifted(left);
  out.e = x.e - left;
  return out;
}

}  // namespace

Real add(const Real& a, const Real& b, Mode mode) {
  if (is_nan(a) || is_nan(b)) return nan();
  if (is_infinite(a) || is_infinite(b)) {
    if (is_infinite(a) && is_infinite(b) && a.negative != b.negative) return nan();
    return infinite(is_infinite(a) ? a.negative : b.negative);
  }
  if (a.is_zero() && b.is_zero())
    return zero(a.negative == b.negative ? a.negative : mode == Mode::Down);
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const bool a_larger = scale(a) >= scale(b);
  const Real x = a_larger ? a : brought_near(a, b), y = a_larger ? brought_near(b, a) : b;
  Real sum;
  sum.e = std::min(x.e, y.e);
  const Wide nx = x.n.shifted(x.e - sum.e), ny = y.n.shifted(y.e - sum.e);
  if (x.negative == y.negative) {
    sum.n = nx.plus(ny);
    sum.negative = x.negative;
  } else {
    const bool x_smaller = nx.less(ny);
    sum.n = x_smaller ? ny.minus(nx) : nx.minus(ny);
    sum.negative = x_smaller ? y.negative : x.negative;
  }
  return sum.n.is_zero() ? zero(mode == Mode::Down) : sum;
}

Real mul(const Real& a, const Real& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  const bool negative = a.negative != b.negative;
  if (is_infinite(a) || is_infinite(b))
    return a.is_zero() || b.is_zero() ? nan() : infinite(negative);
  Real out;
  out.negative = negative;
  out.n = Wide::product(a.n.low(), b.n.low());
  out.e = a.e + b.e;
  return out;
}

Real div(const Real& a, const Real& b) {
  if (is_nan(a) || is_nan(b)) return nan();
  const bool negative = a.negative != b.negative;
  if (is_infinite(a)) return is_infinite(b) ? nan() : infinite(negative);
  if (is_infinite(b)) return zero(negative);
  if (b.is_zero()) return a.is_zero() ? nan() : infinite(negative);
  if (a.is_zero()) return zero(negative);
  const Real x = normalised(a), y = normalised(b);
  const UInt128 numerator = static_cast<UInt128>(x.n.low()) << 74;
  const UInt128 quotient = numerator / y.n.low();
  Real out;
  out.negative = negative;
  out.n = Wide(static_cast<uint64_t>(quotient >> 64))
              .shifted(64)
              .plus(Wide(static_cast<uint64_t>(quotient)));
  out.e = x.e - y.e - 74;
  out.beyond = numerator % y.n.low() != 0;
  return out;
}

Real sqrt(const Real& a) {
  if (is_nan(a)) return nan();
  if (a.is_zero()) return a;
  if (a.negative) return nan();
  if (is_infinite(a)) return a;
  Real x = normalised(a);
  if (x.e % 2 != 0) {
    x.n = x.n.shifted(1);
    x.e -= 1;
  }
  const UInt128 value = static_cast<UInt128>(x.n.low()) << 72;
  UInt128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const UInt128 tried = root | static_cast<UInt128>(1) << bit;
    if (tried * tried <= value) root = tried;
  }
  Real out;
  out.n = Wide(static_cast<uint64_t>(root));
  out.e = (x.e - 72) / 2;
  out.beyond = root * root != value;
  return out;
}

int compare(const Real& a, const Real& b) {
  const auto sign = [](const Real& x) { return x.is_zero() ? 0 : x.negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) < sign(b) ? -1 : 1;
  if (sign(a) == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) {
    if (is_infinite(a) && is_infinite(b)) return 0;
    return (is_infinite(a) ? 1 : -1) * sign(a);
  }
  const Real difference = add(a, negated(b), Mode::Nearest);
  return sign(difference);
}

namespace {

/// n * 2^e in units of 2^quantum, rounded.
Wide rounded(const Real& x, int quantum, Mode mode) {
  const int drop = quantum - x.e;
  const Wide kept = x.n.shifted(-drop);
  const bool half = x.n.bit(drop - 1);
  const bool rest = x.n.any_below(drop - 1) || x.beyond;
  bool up = false;
  switch (mode) {
    case Mode::Nearest:
      up = half && (rest || kept.bit(0));
      break;
    case Mode::NearestAway:
      up = half;
      break;
    case Mode::Zero:
      break;
    case Mode::Down:
      up = (half || rest) && x.negative;
      break;
    case Mode::Up:
      up = (half || rest) && !x.negative;
      break;
  }
  return up ? kept.plus(Wide(1)) : kept;
}

}  // namespace

uint64_t encode(const Format& format, const Real& x, Mode mode, bool satfinite) {
  if (is_nan(x)) return format.nan;
  const uint64_t sign = x.negative ? format.sign() : 0;
  if (is_infinite(x)) return sign | (format.infinity() - (satfinite ? 1 : 0));
  if (x.n.is_zero()) return sign;
  const int lowest = 1 - format.bias() - format.mantissa;
  const int quantum = std::max(scale(x) - format.mantissa, lowest);
  const Wide n = rounded(x, quantum, mode);
  // Exponent field and fraction in one number: the implicit bit adds one to the field.
  const Int128 field = static_cast<Int128>(quantum - lowest);
  const Int128 result = (field << format.mantissa) + static_cast<Int128>(n.low());
  if (result < static_cast<Int128>(format.infinity())) return sign | static_cast<uint64_t>(result);
  const bool stays = satfinite || mode == Mode::Zero || (mode == Mode::Down && !x.negative) ||
                     (mode == Mode::Up && x.negative);
  return sign | (format.infinity() - (stays ? 1 : 0));
}

Int128 to_integer(const Real& x, Mode mode, Int128 low, Int128 high) {
  if (is_infinite(x) || (!x.n.is_zero() && scale(x) > 100)) return x.negative ? low : high;
  const Wide n = rounded(x, 0, mode);
  const Int128 magnitude =
      static_cast<Int128>(static_cast<UInt128>(n.shifted(-64).low()) << 64 | n.low());
  return std::clamp(x.negative ? -magnitude : magnitude, low, high);
}

Real to_integral(const Real& x, Mode mode) {
  if (x.kind != Real::Kind::Finite || x.n.is_zero() || x.e >= 0) return x;
  Real out;
  out.negative = x.negative;
  out.n = rounded(x, 0, mode);
  return out;
}

}  // namespace kw::alu_fuzz
