// Plans row programs: any chain of reductions over the same elements and the values computed from
// them. A reduction's operand is a row of columns; all reductions must run over the same row. The
// plan decides what is computed in which pass, not how threads share the row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// A sum of exp(x - shift) in the same pass as the maximum that gives its shift. The sum is
/// rescaled when the maximum grows.
struct Rescaled {
  NodeId max = 0;
  bool bare = true;  // the shift is the maximum itself, even if infinite
};

/// A sum of squares about a mean, in the same pass as the sum that gives the mean. Each pack's
/// squares are about its own mean, and are combined with the distance of the means.
struct Centred {
  NodeId sum = 0, mean = 0;
};

struct RowPlan {
  Shape shape;            // of the reduced operand
  std::vector<int> dims;  // the reduced dims
  Domain rows, columns;
  Index at, kept;  // the element's index in `shape`, and with 0 in the reduced dims

  /// Reductions by pass; each pass needs only results of earlier ones.
  std::vector<std::vector<NodeId>> passes;
  std::map<NodeId, Index> places;       // the index at which each is needed
  std::map<NodeId, Rescaled> rescaled;  // sums, after their maximum in its pass
  std::map<NodeId, Centred> centred;    // sums of squares, after the sum in its pass
  // Stores by the node before their reshapes.
  std::vector<Store> row_stores;   // one value per row
  std::vector<Store> full_stores;  // one value per element, in a final pass
  std::vector<Dim> used;           // indices that the values need

  Shape kept_shape() const;
  Dim row_count() const { return graph::count_of(rows.shape); }
  Dim column_count() const { return graph::count_of(columns.shape); }
  bool is_full(const Store& store) const;
  /// The index at which a store's value is computed, and its address.
  Index index_of(const Store& store, const Region& region) const;
  Dim address_of(const Store& store) const;
  /// The index of a reduction's operand at the current element.
  Index operand_index(const Node& reduction, const Node& operand, const Index& index) const;
  /// Whether a row's columns are contiguous in memory, at least for one large operand.
  bool is_contiguous() const;
  /// Whether instead adjacent rows are adjacent in memory.
  bool lies_across() const;
  std::vector<std::string> row_variables() const;
  std::vector<std::string> column_variables() const;
  Ranges ranges() const;
};

/// Empty if the region is not a row program.
std::optional<RowPlan> plan_rows(const Region& region);

/// The same with fewer passes: sums of exponentials share the pass of their maximum, and sums of
/// squares that of their mean. Empty if that is not possible.
std::optional<RowPlan> plan_online(const Region& region, const RowPlan& plan);

/// The type of a reduction's partial results: "float", "int", "long long".
const char* partial_type(DType dtype);
DType partial_dtype(DType dtype);
/// The result of a reduction over no elements, in partial_type.
std::string identity_of(Op op, DType dtype);
/// "Add", "Larger": the helper that combines two partial results.
const char* combine_of(Op op);

}  // namespace kw::generate
