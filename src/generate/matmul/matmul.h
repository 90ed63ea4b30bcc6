// Matrix products: what the kernels on CUDA cores and on tensor cores share. One product per
// region, with whatever is done element by element to its operands and its result, and whatever
// moves them: a convolution is a product whose right operand is read through windows.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul_phases.h"

namespace kw::generate {

/// What a block takes: a tile, or a part of one along k where the last wave is not full, or a tile
/// with rows of one phase.
enum class Tiling { Whole, Split, Phases };

/// A running number of a product, "ni", and the dims it stands for, as few as an access can see.
struct Run {
  std::string name;
  Domain domain;
  Joined axes;
  std::set<std::string> ranged = {};  // axes of which a phase leaves a range

  bool is_whole() const { return axes.axes.size() == 1; }
  Dim index() const { return linear(domain.shape, domain.index); }
  /// The innermost axis.
  const Axis& inner() const { return axes.axes.back(); }
  /// All names that the number goes by.
  std::vector<std::string> variables() const;
  /// The axes from the number, where it has several.
  void write(Emitter& e, CudaWriter& w) const;
};

/// Where an operand or the result lies: [batch, row, column].
struct View {
  Run row, column;
  Index index;
  std::vector<Dim> used;  // indices its elements need
};

/// An operand's tile in shared memory: `outer` rows of `inner` neighbouring elements.
struct ProductOperand {
  graph::NodeId node = 0;
  bool left = true;       // [m, k], else [k, n]
  bool along_k = true;    // neighbours in memory are neighbours along k
  bool direct = false;    // in memory as it is: packs can be loaded
  Dim address{0};         // of its element, where direct
  std::string buffer;     // that it lies in, where direct
  const char* tile = "";  // "left", "right"
  View view;

  const Run& k() const { return left ? view.column : view.row; }
  const Run& side() const { return left ? view.row : view.column; }
  const Run& inner_run() const { return along_k ? k() : side(); }
  const char* outer() const { return along_k ? (left ? "mi" : "ni") : "ki"; }
  const char* inner() const { return along_k ? "ki" : (left ? "mi" : "ni"); }
  std::vector<std::string> variables() const;
  /// How the emitter writes its variables.
  std::map<std::string, Dim> rename() const;
};

class Product {
 public:
  /// The region's product; see product_of. `strip`: operands behind casts to fp32.
  Product(const Region& region, graph::NodeId node, bool strip = false);
  /// From now on batches are phases of rows as well; false where rows have none.
  bool take_phases();

  const graph::Node& node() const { return region_.node(id_); }
  graph::NodeId id() const { return id_; }
  /// Of the tiles: where the left operand is the same for all of the first batches, their columns
  /// are numbered as one.
  Dim batches() const { return graph::count_of(batch_.domain.shape) * phases_.count(); }
  /// Of a phase, where there are phases.
  Dim m() const;
  Dim n() const { return graph::count_of(result_.column.domain.shape); }
  const Dim& k() const { return region_.node(node().inputs[0]).shape.back(); }
  /// At the shape to be fast at; a phase's are average ones.
  Extents extents() const;
  const Phases& phases() const { return phases_; }
  /// How many columns there are, as device code: the phase's.
  std::string columns() const { return phases_.empty() ? n().text() : "columns"; }
  /// Writes what the block's place in the batches says: where it has rows of one phase, which taps
  /// and columns those have, and where k ends.
  void write_batch(Emitter& e, CudaWriter& w) const;
  const Run& batch() const { return batch_; }
  const View& result() const { return result_; }
  const ProductOperand& operand(bool left) const { return left ? left_ : right_; }
  const Ranges& ranges() const { return ranges_; }
  /// What the emitter is told before anything is written: ranges, and how batches are written.
  void prepare(Emitter& e) const;
  std::vector<std::string> batch_variables() const { return batch_.variables(); }

  /// Writes the stores of one element, `value` being the product there. False where a store is not
  /// computed from the product's element at its own place.
  bool write_stores(Emitter& e, int scope, const std::string& value) const;
  bool fits() const { return fits_; }

 private:
  ProductOperand operand_of(bool left, bool strip) const;
  /// `letters`: of its rows and columns, "mk"; `prefix`: what makes their variables its own.
  View view_of(const std::string& prefix, const char* letters, const Shape& rows,
               const Shape& columns, bool has_images) const;
  void look_at_operand(ProductOperand& operand) const;
  static void find_direction(ProductOperand& operand);
  void look_at_result();
  void join(Run& run, const std::vector<Dim>& used) const;
  size_t same_for_left() const;
  bool take_runs_apart();
  bool find_k_ranges();
  void find_column_ranges();
  void find_phases();
  void fix_phases();
  std::vector<std::string> all_variables() const;

  const Region& region_;
  graph::NodeId id_;
  size_t images_ = 0;  // leading batch dims that count as columns
  Run batch_;
  View result_;
  ProductOperand left_, right_;
  Ranges ranges_;
  Phases phases_;
  std::set<std::string> inside_;  // indices of the result that phases keep within their bounds
  bool fits_ = true;              // every store is computed from the element at its own place
};

/// Whether the node is computed from windows of something.
bool reads_windows(const Region& region, graph::NodeId node);

/// Nothing where the region is not one product with pointwise work around it, or has no phases
/// where these are asked for.
std::optional<Product> product_of(const Region& region, bool strip = false,
                                  Tiling tiling = Tiling::Whole);

/// Writes the stores of a region at the place of one element of `from`, which lies at `index` and
/// is `value`. False where a store is not computed from that element alone.
/// `keep`: takes what would be stored at an address, under a condition or always (""). `inside`:
/// indices that lie within their bounds, whatever these are.
using KeepResult = std::function<void(const Store& store, const Dim& address,
                                      const std::string& value, const std::string& condition)>;
bool write_results(const Region& region, graph::NodeId from, const Index& index,
                   const Ranges& ranges, Emitter& e, int scope, const std::string& value,
                   const KeepResult& keep = {}, const std::set<std::string>& inside = {});

/// Within which bounds an element of `from` at `index` must lie to be stored; none where there are
/// several stores.
std::vector<Bound> bounds_of_store(const Region& region, graph::NodeId from,
                                         const Index& index, const Ranges& ranges);

/// The dims that dim `d` of a node is made of, seen from below (what it is computed from) and from
/// above (what the stores make of it); the dim itself where it is taken as it is.
Shape parts_below(const Region& region, graph::NodeId node, size_t d);
Shape parts_above(const Region& region, graph::NodeId node, size_t d);

}  // namespace kw::generate
