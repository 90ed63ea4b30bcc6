// Whether a row gives the same bits in every batch: alone, in a part of the batch, at another
// place, beside other rows. The batch dims are those along which the graph computes every place by
// itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/pool.h"
#include "gate/run_cell.h"

namespace kw::gate {

struct BatchOptions {
  double most_work = 0;  // of a shape; 0: no limit
  int runs_per_dim = 4;  // other batches for each batch dim and shape
  double batch_seconds = 0.25;  // that one batch of many rows may take
  uint64_t seed = 0;
  std::function<bool()> interrupted;  // may be empty
};

struct BatchReport {
  std::vector<std::string> dims;  // batch dims that were varied
  int64_t runs = 0;               // other batches that were run
  int64_t most_rows = 0;          // of one batch
  std::set<int64_t> not_tried;    // sizes of batches that would have taken too long
  std::string difference;         // where a row first has other bits; "" if nowhere
  task::Dims first_dims, other_dims;  // the two batches that differ
  std::string left_out;           // a batch that gave no result, with the reason
  std::optional<Judged> failed;   // a run that is itself a failure of the candidate …
  task::Dims failed_dims;         // … and its dims

  /// Not set: not applicable, or nothing could be run.
  std::optional<bool> same() const {
    return runs == 0 ? std::nullopt : std::optional(difference.empty());
  }
};

/// Runs parts and permutations of batches whose cells are right already, and compares bits row by
/// row. Stops at the first difference.
Result<BatchReport> vary_batches(Pool& pool, const CellRunner& runner, const BatchOptions& options);

}  // namespace kw::gate
