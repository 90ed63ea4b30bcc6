#include "review/interval.h"

namespace kw::review {
namespace {

int64_t product(int64_t one, int64_t other) {
  int64_t exact = 0;
  const bool over = __builtin_mul_overflow(one, other, &exact);
  if (over) exact = (one < 0) == (other < 0) ? Interval::kFar : -Interval::kFar;
  return std::clamp(exact, -Interval::kFar, Interval::kFar);
}

/// Over all four corners.
template <typename Apply>
Interval corners(const Interval& one, const Interval& other, const Apply& apply) {
  const int64_t all[] = {apply(one.low, other.low), apply(one.low, other.high),
                         apply(one.high, other.low), apply(one.high, other.high)};
  return Interval::between(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
}

Interval shift(const Interval& one, const Interval& by, bool left) {
  if (!by.single() || by.low < 0 || by.low > 40) return {};
  const Interval factor = Interval::exactly(int64_t{1} << by.low);
  if (left) return multiply(one, factor);
  return one.known && one.low >= 0 ? divide(one, factor) : Interval{};
}

Interval masked(const Interval& one, const Interval& mask) {
  if (!mask.single() || mask.low < 0) return {};
  const bool below = one.known && one.low >= 0;
  return Interval::between(0, below ? std::min(one.high, mask.low) : mask.low);
}

}  // namespace

Interval add(const Interval& one, const Interval& other) {
  if (!one.known || !other.known) return {};
  return Interval::between(one.low + other.low, one.high + other.high);
}

Interval subtract(const Interval& one, const Interval& other) {
  if (!one.known || !other.known) return {};
  return Interval::between(one.low - other.high, one.high - other.low);
}

Interval multiply(const Interval& one, const Interval& other) {
  if (!one.known || !other.known) return {};
  return corners(one, other, product);
}

Interval divide(const Interval& one, const Interval& other) {
  if (!one.known || !other.known || (other.low <= 0 && other.high >= 0)) return {};
  return corners(one, other, [](int64_t a, int64_t b) { return a / b; });
}

Interval remainder(const Interval& one, const Interval& other) {
  if (!one.known || !other.known || other.low <= 0 || one.low < 0) return {};
  return Interval::between(0, std::min(one.high, other.high - 1));
}

Interval either(const Interval& one, const Interval& other) {
  if (one.empty()) return other;
  if (other.empty()) return one;
  if (!one.known || !other.known) return {};
  return Interval::between(std::min(one.low, other.low), std::max(one.high, other.high));
}

Interval combine(std::string_view sign, const Interval& one, const Interval& other) {
  if (sign == "+") return add(one, other);
  if (sign == "-") return subtract(one, other);
  if (sign == "*") return multiply(one, other);
  if (sign == "/") return divide(one, other);
  if (sign == "%") return remainder(one, other);
  if (sign == "<<" || sign == ">>") return shift(one, other, sign == "<<");
  return sign == "&" ? masked(one, other) : Interval{};
}

Truth compare(std::string_view sign, const Interval& one, const Interval& other) {
  if (!one.known || !other.known) return Truth::Open;
  const auto tell = [](bool yes, bool no) {
    return yes ? Truth::Yes : no ? Truth::No : Truth::Open;
  };
  if (sign == "<") return tell(one.high < other.low, one.low >= other.high);
  if (sign == "<=") return tell(one.high <= other.low, one.low > other.high);
  if (sign == ">") return compare("<", other, one);
  if (sign == ">=") return compare("<=", other, one);
  const bool same = one.single() && other.single() && one.low == other.low;
  const bool apart = one.high < other.low || other.high < one.low;
  if (sign == "==") return tell(same, apart);
  return sign == "!=" ? tell(apart, same) : Truth::Open;
}

Interval narrowed(const Interval& one, std::string_view sign, const Interval& other) {
  if (!other.known) return one;
  Interval out = one.known ? one : Interval::between(-Interval::kFar, Interval::kFar);
  if (sign == "<") out.high = std::min(out.high, other.high - 1);
  if (sign == "<=") out.high = std::min(out.high, other.high);
  if (sign == ">") out.low = std::max(out.low, other.low + 1);
  if (sign == ">=") out.low = std::max(out.low, other.low);
  if (sign == "==") {
    out.low = std::max(out.low, other.low);
    out.high = std::min(out.high, other.high);
  }
  return out;
}

}  // namespace kw::review
