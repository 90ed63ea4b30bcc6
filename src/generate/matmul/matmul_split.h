// Which tile of a product a block computes, and how much of k. Where tiles do not fill the last
// wave, all blocks that the device holds share it: each takes as many steps along k, from one tile
// into the next. A second launch adds what they found for parts of a tile, always in the same
// order, and does what follows the product.
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

/// The tiles a product may be cut into.
struct TileSizes {
  std::vector<int64_t> heights, widths;
  Pace pace = kCudaCores;

  /// The fastest by the model.
  Cut best(const Product& product, bool split, const TargetContext& context) const;
  /// Clocks of the fastest, whole or split.
  double fastest(const Product& product, const TargetContext& context) const;
  /// How many times as fast a split product is.
  double gain_of_split(const Product& product, const TargetContext& context) const;
  /// TILE_M and TILE_N, those of the cut first. `where`: which go together.
  void add_tunes(KernelBuilder& kernel, const Cut& cut, const std::string& where = "") const;
};

class TileShare {
 public:
  /// `step`: of k, as a plan says it. TILE_M, TILE_N and RESIDENT, which is how many blocks there
  /// is room for, times 64 sums each, are the kernel's.
  TileShare(const Region& region, const Product& product, bool split, tensor::DType sums,
            std::string step)
      : region_(region), product_(product), split_(split), dtype_(sums), step_(std::move(step)) {}

  /// Parameters of the kernel and what to pass for them.
  Parameters parameters(const std::string& constness = "") const;
  /// Writes where the block's tile lies (first_m, first_n, batch) and which part of k is its own
  /// (from begin to end), and what `body` writes: for one tile, or for all that it has a part of.
  void write(CudaWriter& w, const std::function<void()>& body) const;
  /// Writes what is done with `total` at [at_m][at_n] of a tile that others have parts of: the
  /// loop goes on with the next one.
  void write_part(CudaWriter& w) const;
  void add_plan(KernelBuilder& kernel) const;
  /// The function that adds parts up, where there are any.
  void write_finish(KernelBuilder& kernel);
  /// The product's own launch, and that function's.
  std::vector<Launch> launches(const Function& product, const std::string& index,
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
  tensor::DType dtype_;
  std::string step_;
  std::optional<Function> finish_;
};

}  // namespace kw::generate
