// Row programs: any chain of reductions over the same elements and what is computed from them. A
// reduction's operand is a row of columns; every other reduction must run over the same row. Says
// what is computed in which pass over the row, not how threads share it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emit/emit.h"

namespace kw::generate {

/// A sum of exp(x - shift) in the same pass as the maximum its shift comes from: what was summed is
/// rescaled as the maximum grows.
struct Rescaled {
  graph::NodeId max = 0;
  bool bare = true;  // the shift is the maximum itself, even where that is infinite
};

/// A sum of squares about a mean, in the same pass as the sum its mean comes from: every pack's
/// squares are about its own mean, and joined with what the means are apart.
struct Centred {
  graph::NodeId sum = 0, mean = 0;
};

struct RowPlan {
  Shape shape;            // of what is reduced
  std::vector<int> dims;  // the reduced ones
  Domain rows, columns;
  Index at, kept;  // the element's index in `shape`, and with 0 in the reduced dims

  /// Reductions by pass: those of one pass need those of earlier ones only.
  std::vector<std::vector<graph::NodeId>> passes;
  std::map<graph::NodeId, Index> places;       // where each of them is asked for
  std::map<graph::NodeId, Rescaled> rescaled;  // sums, behind their maximum in its pass
  std::map<graph::NodeId, Centred> centred;    // sums of squares, behind the sum in its pass
  // Stores by what is before their reshapes.
  std::vector<Store> row_stores;   // one value per row
  std::vector<Store> full_stores;  // one value per element, in a pass of their own at the end
  std::vector<Dim> used;           // indices the values need

  Shape kept_shape() const;
  Dim row_count() const { return graph::count_of(rows.shape); }
  Dim column_count() const { return graph::count_of(columns.shape); }
  bool is_full(const Store& store) const;
  /// Where a store's value is computed, and where it goes.
  Index index_of(const Store& store, const Region& region) const;
  Dim address_of(const Store& store) const;
  /// Where a reduction's operand lies for the element at hand.
  Index operand_index(const graph::Node& reduction, const graph::Node& operand,
                      const Index& index) const;
  /// Whether a row's columns lie side by side in memory, at least where something large is read.
  bool is_contiguous() const;
  /// Whether instead neighbouring rows lie side by side.
  bool lies_across() const;
  std::vector<std::string> row_variables() const;
  std::vector<std::string> column_variables() const;
  Ranges ranges() const;
};

/// Nothing where the region is no row program.
std::optional<RowPlan> plan_rows(const Region& region);

/// The same with fewer passes, where sums of exponentials need not wait for their maximum, nor
/// sums of squares for their mean.
std::optional<RowPlan> plan_online(const Region& region, const RowPlan& plan);

/// What a reduction's partial results are kept in: "float", "int", "long long".
const char* partial_type(tensor::DType dtype);
tensor::DType partial_dtype(tensor::DType dtype);
/// The result of reducing nothing, of partial_type.
std::string identity_of(graph::Op op, tensor::DType dtype);
/// "Add", "Larger": the helper that joins two partial results.
const char* combine_of(graph::Op op);

}  // namespace kw::generate
