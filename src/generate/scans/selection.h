// Sorts and top-k along one dim: the part that top_k.cpp and sort.cpp share. Every element becomes
// an unsigned key with the required order; results are found by their positions.
#pragma once

#include <optional>
#include <string>

#include "scans/siblings.h"

namespace kw::generate {

/// Values and positions of one selection.
struct Selection : Siblings {
  bool stable = false;  // a sort: equal elements keep their order

  /// The number of selected elements.
  const Dim& count() const { return first->shape[axis()]; }
};

/// Empty if the region is not a single selection with work on its results inside their rows.
std::optional<Selection> selection_of(const Region& region);
RowLoop loop_of(const Region& region, const Selection& selection);
/// Whether keys need 64 bits.
bool has_wide_keys(const Region& region, const Selection& selection);

/// Device function `NAME_key(value)`: larger values have larger keys (smaller keys if the smallest
/// are selected), NaN is above all numbers, both zeros are equal.
std::string key_function(const Region& region, const Selection& selection, bool largest_first);

/// Statements that store the results of a row one by one. `order` is an expression over the rank,
/// written @; it gives the position of the element with that rank, as an Index.
class SelectionResults {
 public:
  SelectionResults(const Region& region, const Selection& selection, const RowLoop& loop)
      : region_(region), selection_(selection), loop_(loop) {}

  /// Writes into scopes of `e` inside `level`, one per store; each becomes a loop over `from`,
  /// `step`. False if a store does not belong to its row.
  bool write(Emitter& e, int level, const std::string& order, CudaWriter& out,
             const std::string& from, const std::string& step);

 private:
  const Region& region_;
  const Selection& selection_;
  const RowLoop& loop_;
};

/// The number of results that a store has in each row; empty if it has no rows.
std::optional<Dim> results_per_row(const Region& region, const Selection& selection,
                                   const Store& store);

}  // namespace kw::generate
