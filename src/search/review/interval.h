// Whole numbers that lie somewhere between two bounds, as far as that is known: what index
// expressions of device code can be. Arithmetic never claims more than holds for every pair of
// values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kw::review {

/// Bounds are kept well inside of int64, so that sums and differences of them are exact.
struct Interval {
  static constexpr int64_t kFar = int64_t{1} << 60;
  int64_t low = -kFar, high = kFar;  // at the limits: unbounded
  bool known = false;                // false: no claim at all

  static Interval exactly(int64_t value) { return between(value, value); }
  static Interval between(int64_t low, int64_t high) {
    return {std::clamp(low, -kFar, kFar), std::clamp(high, -kFar, kFar), true};
  }
  bool single() const { return known && low == high; }
  bool empty() const { return known && low > high; }
  bool bounded() const { return known && low > -kFar && high < kFar; }
};

Interval add(const Interval& one, const Interval& other);
Interval subtract(const Interval& one, const Interval& other);
Interval multiply(const Interval& one, const Interval& other);
/// Rounds to zero, as C++ does. Unknown where the divisor may be 0.
Interval divide(const Interval& one, const Interval& other);
Interval remainder(const Interval& one, const Interval& other);
/// Either of them.
Interval either(const Interval& one, const Interval& other);
/// Of an operator's sign: + - * / % << >> &. Unknown for others.
Interval combine(std::string_view sign, const Interval& one, const Interval& other);

enum class Truth : uint8_t { Open, Yes, No };
/// Of < <= > >= == !=, for all values.
Truth compare(std::string_view sign, const Interval& one, const Interval& other);
/// What is left of `one` where the comparison holds.
Interval narrowed(const Interval& one, std::string_view sign, const Interval& other);

}  // namespace kw::review
