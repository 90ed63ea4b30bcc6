// Which tiles a product is cut into, and whether the last wave of them is shared along k: guesses
// from a model of the busiest multiprocessor. Tunables try the rest.
#pragma once

#include <cstdint>
#include <vector>

namespace kw::generate {

/// A product's extents at the shape to be fast at.
struct Extents {
  int64_t batches = 1, m = 1, n = 1, k = 1;
};

/// What one multiprocessor does in a clock.
struct Pace {
  double products = 0;       // multiplications and additions, nothing else to do
  int64_t element_size = 4;  // of an operand, in bytes
};
inline constexpr Pace kCudaCores{102, 4};
inline constexpr Pace kTensorCores{560, 2};

/// Tiles of one size. `split`: those that do not fill a wave are shared along k by all blocks that
/// the device holds.
struct Cut {
  int64_t tile_m = 128, tile_n = 128;
  bool split = false;
  int64_t tiles = 0;  // of all batches
  double clocks = 0;  // of a multiprocessor
};

/// How many times as fast a product must look by the model when its last wave is shared, or its
/// rows are taken in phases: to be among what is tried, to be tried first. Convolutions that
/// looked 1.09 times as fast were slower.
inline constexpr double kWorthATry = 0.9, kLikelyFaster = 1.13;

/// Shortest part of k that is worth a block.
inline constexpr int64_t kShortestPart = 128;
/// Sums that a multiprocessor keeps, in all blocks together.
inline constexpr int64_t kResidentSums = 32768;

/// How long a cut takes.
double clocks_of(const Extents& product, const Cut& cut, const Pace& pace, int64_t sms);

/// All cuts into tiles of these heights and widths, the fastest first.
std::vector<Cut> cuts_of(const Extents& product, bool split, const std::vector<int64_t>& heights,
                         const std::vector<int64_t>& widths, const Pace& pace, int64_t sms);

}  // namespace kw::generate
