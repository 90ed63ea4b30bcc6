// Decides which tile of a product a block computes, and which part of k. If tiles do not fill the
// last wave, all blocks that fit on the device share it: each takes the same number of steps along
// k, across tiles. A second launch adds the parts of a tile, always in the same order, and does the
// work after the product.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul.h"
#include "matmul/matmul_cuts.h"

namespace kw::generate {

/// The tile sizes that a product may use.
struct TileSizes {
  std::vector<int64_t> heights, widths;
  SmRates pace = kCudaCores;

  /// The fastest cut by the model.
  Cut best(const Product& product, bool split, const TargetContext& context) const;
  /// The clocks of the fastest cut, whole or split.
  double fastest(const Product& product, const TargetContext& context) const;
  /// The predicted speed-up of a split product.
  double gain_of_split(const Product& product, const TargetContext& context) const;
  /// Adds TILE_M and TILE_N, those of the cut first. `where` limits their combinations.
  void add_tunes(KernelBuilder& kernel, const Cut& cut, const std::string& where = "") const;
};

class TileShare {
 public:
  /// `step` is the step along k, as a plan expression. The kernel must have TILE_M, TILE_N and
  /// RESIDENT: a multiprocessor holds blocks with RESIDENT * 64 sums together.
  TileShare(const Region& region, const Product& product, bool split, DType sums, std::string step)
      : region_(region), product_(product), split_(split), dtype_(sums), step_(std::move(step)) {}

  /// Parameters of the kernel and their arguments.
  Parameters parameters(const std::string& constness = "") const;
  /// Writes the position of the block's tile (first_m, first_n, batch), its part of k (begin to
  /// end), and then `body`: for one tile, or in a loop over all its parts.
  void write(CudaWriter& w, const std::function<void()>& body) const;
  /// Writes the store of `total` at [at_m][at_n] for a tile whose parts several blocks have, then
  /// continues the loop.
  void write_part(CudaWriter& w) const;
  void add_plan(KernelBuilder& kernel) const;
  /// Writes the function that adds the parts, if there are any.
  void write_finish(KernelBuilder& kernel);
  /// The launch of the product, and of the function that adds parts.
  std::vector<Launch> launches(const DeviceFunction& product, const std::string& index,
                               const std::string& packs, const std::string& threads) const;

 private:
  std::string name(const char* text) const { return text + region_.suffix; }
  std::string type() const { return register_type(dtype_); }
  std::string sums() const { return scratch_name(region_, "sums"); }
  std::string tiles() const;
  std::string steps() const;
  void write_tile(CudaWriter& w) const;
  std::string finish_body(Emitter& e) const;

  const Region& region_;
  const Product& product_;
  bool split_;
  DType dtype_;
  std::string step_;
  std::optional<DeviceFunction> finish_;
};

}  // namespace kw::generate
