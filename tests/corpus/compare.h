// How two tensors of one type differ: bits, units in the last place, and distance relative to a
// tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "corpus.h"
#include "tensor/host_tensor.h"

namespace kw::corpus {

/// Upper ends of the histogram's buckets, in units in the last place: 0, 1, 2, 3-4, 5-16, more.
inline constexpr int kUlpBuckets = 6;
const char* ulp_bucket_name(int bucket);

struct Comparison {
  bool bits_equal = true;  // NaNs count as equal
  bool within = true;      // of the tolerance
  std::array<int64_t, kUlpBuckets> histogram{};
  uint64_t max_ulp = 0;  // integers: their distance
  double max_error = 0;  // largest |got - want| / max(|want|, 1)
  std::string first;     // "y[7]: got 1, want 2": the first element outside the tolerance

  /// Joins the comparison of another tensor to this one.
  Comparison& operator+=(const Comparison& other);
};

Comparison compare(const std::string& name, const tensor::HostTensor& got,
                   const tensor::HostTensor& want, const Tolerance& tolerance);

}  // namespace kw::corpus
