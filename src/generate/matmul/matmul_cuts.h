// Chooses the tiles of a product, and whether the last wave is shared along k: guesses from a model
// of the busiest multiprocessor. Tunables try the others.
#pragma once

#include <cstdint>
#include <vector>

namespace kw::generate {

/// The extents of a product at the first benchmark shape.
struct ProductExtents {
  int64_t batches = 1, m = 1, n = 1, k = 1;
};

/// The rates of one multiprocessor, per clock.
struct SmRates {
  double products = 0;       // multiply-adds if nothing else is done
  int64_t element_size = 4;  // of an operand, in bytes
};
inline constexpr SmRates kCudaCores{102, 4};
inline constexpr SmRates kTensorCores{560, 2};

/// Tiles of one size. `split`: all blocks on the device share those that do not fill a wave, along
/// k.
struct Cut {
  int64_t tile_m = 128, tile_n = 128;
  bool split = false;
  int64_t tiles = 0;  // of all batches
  double clocks = 0;  // clocks of a multiprocessor
};

/// The predicted speed-up that a shared last wave or phases need: to be tried at all, and to be
/// tried first. Convolutions with a prediction of 1.09 were slower.
inline constexpr double kWorthATry = 0.9, kLikelyFaster = 1.13;

/// The shortest part of k for a block.
inline constexpr int64_t kShortestPart = 128;
/// The number of sums that a multiprocessor keeps, in all blocks together.
inline constexpr int64_t kResidentSums = 32768;

/// The predicted time of a cut, in clocks.
double clocks_of(const ProductExtents& product, const Cut& cut, const SmRates& pace, int64_t sms);

/// All cuts into tiles of these heights and widths, the fastest first.
std::vector<Cut> cuts_of(const ProductExtents& product, bool split,
                         const std::vector<int64_t>& heights, const std::vector<int64_t>& widths,
                         const SmRates& pace, int64_t sms);

}  // namespace kw::generate
