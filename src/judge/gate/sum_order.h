// In which order a candidate adds the terms of a sum or of a product, seen from outside. Two huge
// terms that cancel absorb everything added between them, so the result says how many terms share
// the smallest partial sum with both. Works for every instruction, tensor cores included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "gate/run_cell.h"

namespace kw::gate {

/// How term 0 meets the others.
struct SumOrder {
  int64_t terms = 0;
  std::vector<int64_t> partners;  // the terms that were probed, ascending
  std::vector<int64_t> together;  // per partner: terms in the smallest partial sum with term 0

  /// Such as "4096 terms: partial sums of 128, 32 apart, then joined in 5 steps".
  std::string text() const;
  friend bool operator==(const SumOrder&, const SumOrder&) = default;
};

/// Not set when the graph's first output is not proportional to one sum along the last axis of an
/// input, or when a run gives no result. With few rows it needs one launch per question.
Result<std::optional<SumOrder>> probe_sum_order(const CellRunner& runner,
                                                const shapes::ShapeCase& shape);

}  // namespace kw::gate
