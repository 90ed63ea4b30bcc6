// Sorts and top-k along one dim: what the kernels of top_k.cpp and sort.cpp share. Every element is
// turned into an unsigned key whose order is the wanted one; results are found through their
// places.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "scans/siblings.h"

namespace kw::generate {

/// Values and places of one selection.
struct Selection : Siblings {
  bool stable = false;  // a sort: equals keep their order

  /// How many are asked for.
  const Dim& count() const { return first->shape[axis()]; }
};

/// Nothing where the region is more than one selection and what is done to its results in their
/// rows.
std::optional<Selection> selection_of(const Region& region);
RowLoop loop_of(const Region& region, const Selection& selection);
/// Whether keys need 64 bits.
bool has_wide_keys(const Region& region, const Selection& selection);

/// Device function `NAME_key(value)`: larger values have larger keys (smaller ones where the
/// smallest are wanted), NaN is above all numbers, both zeros are equal.
std::string key_function(const Region& region, const Selection& selection, bool largest_first);

/// Statements that store the results of a row, `place` by `place`; `order` is an expression
/// over the rank, written @, that gives where the element of that rank stands, as an Index.
class SelectionResults {
 public:
  SelectionResults(const Region& region, const Selection& selection, const RowLoop& loop)
      : region_(region), selection_(selection), loop_(loop) {}

  /// Writes into scopes of `e` inside `level`, one per store; gives loops over `from`, `step`.
  /// False where a store does not follow its row.
  bool write(Emitter& e, int level, const std::string& order, CudaWriter& out,
             const std::string& from, const std::string& step);

 private:
  const Region& region_;
  const Selection& selection_;
  const RowLoop& loop_;
};

/// How many results a store has in each row; nothing where it has no rows.
std::optional<Dim> results_per_row(const Region& region, const Selection& selection,
                                   const Store& store);

}  // namespace kw::generate
