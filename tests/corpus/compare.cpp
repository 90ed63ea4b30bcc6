#include "compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kw::corpus {
namespace {

uint64_t raw(const tensor::HostTensor& tensor, int64_t index, int size) {
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data.data() + index * size, static_cast<size_t>(size));
  return bits;
}

/// Sign-magnitude floats and two's complement integers as numbers in the order of their values.
int64_t ordered(uint64_t bits, int size, tensor::DType type) {
  const int shift = 64 - 8 * size;
  const auto value = static_cast<int64_t>(bits << shift) >> shift;
  if (tensor::is_float(type) && value < 0)
    return -static_cast<int64_t>(bits & ~(uint64_t{1} << (8 * size - 1)));
  return tensor::is_unsigned_int(type) ? static_cast<int64_t>(bits) : value;
}

int bucket_of(uint64_t ulp) {
  if (ulp <= 2) return static_cast<int>(ulp);
  return ulp <= 4 ? 3 : ulp <= 16 ? 4 : 5;
}

}  // namespace

const char* ulp_bucket_name(int bucket) {
  static constexpr const char* kNames[kUlpBuckets] = {"0", "1", "2", "3-4", "5-16", ">16"};
  return kNames[bucket];
}

Comparison& Comparison::operator+=(const Comparison& other) {
  bits_equal = bits_equal && other.bits_equal;
  within = within && other.within;
  for (int i = 0; i < kUlpBuckets; ++i) histogram[i] += other.histogram[i];
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_error = std::max(max_error, other.max_error);
  if (first.empty()) first = other.first;
  return *this;
}

Comparison compare(const std::string& name, const tensor::HostTensor& got,
                   const tensor::HostTensor& want, const Tolerance& tolerance) {
  Comparison result;
  if (got.dtype != want.dtype || got.data.size() != want.data.size()) {
    result.bits_equal = result.within = false;
    result.first = fmt::format("{}: {} bytes, want {}", name, got.data.size(), want.data.size());
    return result;
  }
  const int size = tensor::dtype_size(want.dtype);
  const auto count = static_cast<int64_t>(want.data.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t a = raw(got, i, size), b = raw(want, i, size);
    const double x = tensor::get_element(got, i), y = tensor::get_element(want, i);
    const bool same = a == b || (std::isnan(x) && std::isnan(y));
    const int64_t p = ordered(a, size, want.dtype), q = ordered(b, size, want.dtype);
    const uint64_t ulp = same    ? 0
                         : p > q ? static_cast<uint64_t>(p) - static_cast<uint64_t>(q)
                                 : static_cast<uint64_t>(q) - static_cast<uint64_t>(p);
    ++result.histogram[bucket_of(ulp)];
    result.max_ulp = std::max(result.max_ulp, ulp);
    if (same) continue;
    result.bits_equal = false;
    const double distance = std::abs(x - y);
    const double error = distance / std::max(std::abs(y), 1.0);
    result.max_error = std::isnan(error) ? INFINITY : std::max(result.max_error, error);
    const bool exact = tolerance.abs == 0 && tolerance.rel == 0;
    if (!exact && distance <= tolerance.abs + tolerance.rel * std::abs(y)) continue;
    result.within = false;
    if (result.first.empty())
      result.first =
          fmt::format("{}[{}]: got {:.9g} (0x{:x}), want {:.9g} (0x{:x})", name, i, x, a, y, b);
  }
  return result;
}

}  // namespace kw::corpus
