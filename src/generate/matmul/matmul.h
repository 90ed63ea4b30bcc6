// Matrix products: the part that kernels on CUDA cores and on tensor cores share. A region has one
// product, with element-wise work and movement on its operands and its result. A convolution is a
// product whose right operand is read through windows.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/emit.h"
#include "matmul/matmul_phases.h"

namespace kw::generate {

/// The work of a block: a tile, a part of one along k if the last wave is not full, or a tile with
/// rows of one phase.
enum class Tiling { Whole, Split, Phases };

/// A running index of a product, "ni", and the dims it stands for, as few as the accesses allow.
struct AxisRun {
  std::string name;
  Domain domain;
  Joined axes;
  std::set<std::string> ranged = {};  // axes that a phase limits to a range

  bool is_whole() const { return axes.axes.size() == 1; }
  Dim index() const { return linear(domain.shape, domain.index); }
  /// The innermost axis.
  const Axis& inner() const { return axes.axes.back(); }
  /// All variable names for this index.
  std::vector<std::string> variables() const;
  /// Writes the axes, computed from the index, if it has several.
  void write(Emitter& e, CudaWriter& w) const;
};

/// The position of an operand or of the result: [batch, row, column].
struct View {
  AxisRun row, column;
  Index index;
  std::vector<Dim> used;  // indices that its elements need

  std::vector<std::string> variables() const;
};

/// The memory that an element is read from, if it is read unchanged.
struct DirectRead {
  bool direct = false;
  Dim address{0};
  std::string buffer;

  /// A trial run at `index` that sees through permutes and reshapes; `dtype` is what must be read.
  /// Returns the number of loads.
  int find(Emitter& e, NodeId node, const Index& index, DType dtype);
};

/// An operand's tile in shared memory: `outer` rows of `inner` adjacent elements.
struct ProductOperand : DirectRead {
  NodeId node = 0;
  bool left = true;       // [m, k], otherwise [k, n]
  bool along_k = true;    // elements adjacent in memory are adjacent along k
  const char* tile = "";  // "left", "right"
  View view;

  const AxisRun& k() const { return left ? view.column : view.row; }
  const AxisRun& side() const { return left ? view.row : view.column; }
  const AxisRun& inner_run() const { return along_k ? k() : side(); }
  const char* outer() const { return along_k ? (left ? "mi" : "ni") : "ki"; }
  const char* inner() const { return along_k ? "ki" : (left ? "mi" : "ni"); }
  /// The replacements for its variables in the emitter.
  std::map<std::string, Dim> rename() const;
};

class Product {
 public:
  /// The region's product; see product_of. `strip`: use the operands below casts to fp32.
  Product(const Region& region, NodeId node, bool strip = false);
  /// Batches then also number the phases of rows; false if rows have no phases.
  bool take_phases();

  const Node& node() const { return region_.node(id_); }
  NodeId id() const { return id_; }
  /// The batches of the tiles. If the left operand is the same for all leading batches, their
  /// columns are numbered as one.
  Dim batches() const { return graph::count_of(batch_.domain.shape) * phases_.count(); }
  /// The rows of one phase, if there are phases.
  Dim m() const;
  Dim n() const { return graph::count_of(result_.column.domain.shape); }
  const Dim& k() const { return region_.node(node().inputs[0]).shape.back(); }
  /// At the first benchmark shape; for phases the average.
  ProductExtents extents() const;
  const Phases& phases() const { return phases_; }
  /// The number of columns, as device code; of one phase if there are phases.
  std::string columns() const { return phases_.empty() ? n().text() : "columns"; }
  /// Writes what follows from the block's batch. With phases: the taps and columns of its phase,
  /// and the end of k.
  void write_batch(Emitter& e, CudaWriter& w) const;
  const AxisRun& batch() const { return batch_; }
  const View& result() const { return result_; }
  const ProductOperand& operand(bool left) const { return left ? left_ : right_; }
  const Ranges& ranges() const { return ranges_; }
  /// Sets up the emitter before any code is written: ranges, and replacements for batches.
  void prepare(Emitter& e) const;
  std::vector<std::string> batch_variables() const { return batch_.variables(); }

  /// Writes the stores of one element, where `value` is the product. False if a store is not
  /// computed from the product's element at its own position.
  bool write_stores(Emitter& e, int scope, const std::string& value) const;
  bool fits() const { return fits_; }

 private:
  ProductOperand operand_of(bool left, bool strip) const;
  /// `letters` name its rows and columns, "mk"; `prefix` makes their variables unique.
  View view_of(const std::string& prefix, const char* letters, const Shape& rows,
               const Shape& columns, bool has_images) const;
  void look_at_operand(ProductOperand& operand) const;
  static void find_direction(ProductOperand& operand);
  void look_at_result();
  void join(AxisRun& run, const std::vector<Dim>& used) const;
  size_t same_for_left() const;
  bool take_runs_apart();
  bool find_k_ranges();
  void find_column_ranges();
  void find_phases();
  void fix_phases();
  std::vector<const AxisRun*> all_runs() const;
  std::vector<std::string> all_variables() const;

  const Region& region_;
  NodeId id_;
  size_t images_ = 0;  // leading batch dims that count as columns
  AxisRun batch_;
  View result_;
  ProductOperand left_, right_;
  Ranges ranges_;
  Phases phases_;
  std::set<std::string> inside_;  // indices of the result that phases keep within their bounds
  bool fits_ = true;              // every store is computed from the element at its own position
};

/// Whether the node is computed from windows.
bool reads_windows(const Region& region, NodeId node);

/// Empty if the region is not one product with pointwise work around it, or if `tiling` needs
/// phases and it has none.
std::optional<Product> product_of(const Region& region, bool strip = false,
                                  Tiling tiling = Tiling::Whole);

/// Writes the stores of a region for one element of `from`, which is at `index` and has the value
/// `value`. False if a store is not computed from that element alone.
/// `keep` takes the value for an address, under a condition or always (""). `inside` are indices
/// known to lie within their bounds.
using KeepResult = std::function<void(const Store& store, const Dim& address,
                                      const std::string& value, const std::string& condition)>;
bool write_results(const Region& region, NodeId from, const Index& index, const Ranges& ranges,
                   Emitter& e, int scope, const std::string& value, const KeepResult& keep = {},
                   const std::set<std::string>& inside = {});

/// The bounds within which an element of `from` at `index` must lie to be stored; empty if there
/// are several stores.
std::vector<Bound> bounds_of_store(const Region& region, NodeId from, const Index& index,
                                   const Ranges& ranges);

/// The dims that dim `d` of a node consists of: from below (its inputs) and from above (the
/// stores). The dim itself if it is not split.
Shape parts_below(const Region& region, NodeId node, size_t d);
Shape parts_above(const Region& region, NodeId node, size_t d);

}  // namespace kw::generate
