// A small generator of random numbers. The same seed gives the same numbers in every version. Not
// for inputs and not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kw {

/// The splitmix64 algorithm.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  /// Uniform in [0, n); n must be below 2^32.
  size_t below(size_t n) { return static_cast<size_t>(((next() >> 32) * n) >> 32); }
  /// Uniform in [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace kw
