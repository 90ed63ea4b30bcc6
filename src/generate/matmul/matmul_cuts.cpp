#include "matmul/matmul_cuts.h"

#include <algorithm>

namespace kw::generate {

namespace {

// Fitted to an H200: tiles of 128 x 128 reach 47 TFLOP/s, tiles of 64 x 64 reach 41. One block
// where two would fit reaches two thirds of that.
constexpr double kL2Bytes = 16;       // bytes per clock from the L2 cache to a multiprocessor
constexpr double kTileBytes = 52;     // bytes per clock of the next tiles, beside the products
constexpr double kStart = 3000;       // clocks for a block's first loads and its results
constexpr double kLaunch = 3000;      // clocks for one more launch, and the end of the one before
constexpr int64_t kWarpSums = 2048;   // the smallest tile
constexpr double kAloneAtHalf = 1.0;  // larger: a block that is alone is slower

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t tiles_of(const ProductExtents& product, const Cut& cut) {
  return product.batches * divided_up(product.m, cut.tile_m) * divided_up(product.n, cut.tile_n);
}

/// The share of a full multiprocessor's rate with this share of its blocks present.
double pace_at(double share) { return (1 + kAloneAtHalf) * share / (share + kAloneAtHalf); }

/// The clocks of one step along k on a full multiprocessor.
double step_of(const Cut& cut, const SmRates& pace) {
  const auto area = static_cast<double>(cut.tile_m * cut.tile_n);
  const auto edges = static_cast<double>((cut.tile_m + cut.tile_n) * pace.element_size);
  return std::max(area / pace.products + edges / kTileBytes, edges / kL2Bytes);
}

}  // namespace

double clocks_of(const ProductExtents& product, const Cut& cut, const SmRates& pace, int64_t sms) {
  const int64_t tiles = tiles_of(product, cut);
  const int64_t area = cut.tile_m * cut.tile_n;
  const int64_t room = divided_up(kResidentSums, area);  // blocks per multiprocessor
  const double tile = static_cast<double>(product.k) * step_of(cut, pace);
  const auto of_room = [&](double blocks) { return pace_at(blocks / static_cast<double>(room)); };
  if (!cut.split) {
    const int64_t blocks = divided_up(tiles, sms), last = blocks % room;
    const auto full = static_cast<double>(blocks - last);
    return full * tile + kStart * static_cast<double>(divided_up(blocks, room)) +
           (last == 0 ? 0 : static_cast<double>(last) * tile / of_room(static_cast<double>(last)));
  }
  const int64_t slots = sms * room, full = tiles / slots, rest = tiles % slots;
  const int64_t most = divided_up(rest * product.k, kShortestPart);
  const int64_t blocks = std::max<int64_t>(1, std::min(slots, most));
  const double busy = of_room(static_cast<double>(blocks) / static_cast<double>(sms));
  const double bytes = static_cast<double>((rest == 0 ? 0 : rest + blocks) * area) * 8;
  const auto all = static_cast<double>(sms);
  return static_cast<double>(full * room) * tile + static_cast<double>(rest) * tile / all / busy +
         kStart * static_cast<double>(full + 1) + bytes / all / kL2Bytes + kLaunch;
}

std::vector<Cut> cuts_of(const ProductExtents& product, bool split,
                         const std::vector<int64_t>& heights, const std::vector<int64_t>& widths,
                         const SmRates& pace, int64_t sms) {
  std::vector<Cut> cuts;
  for (const int64_t height : heights) {
    for (const int64_t width : widths) {
      if (height * width < kWarpSums) continue;
      cuts.push_back({height, width, split});
      cuts.back().tiles = tiles_of(product, cuts.back());
      cuts.back().clocks = clocks_of(product, cuts.back(), pace, sms);
    }
  }
  std::ranges::stable_sort(cuts, [](const Cut& a, const Cut& b) { return a.clocks < b.clocks; });
  return cuts;
}

}  // namespace kw::generate
