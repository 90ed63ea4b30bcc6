// Which results kernels of the declared precision give where something overflows. The truth is
// computed without limits; beside it, the graph is computed once per way to overflow.
#pragma once

#include <vector>

#include "ports/oracle.h"
#include "truth/range.h"

namespace kw::truth {

/// Returns the ways to overflow: every subset of the nodes whose results leave their range, or the
/// most important subsets if there are too many. Empty when no node does. The last one is that of a
/// run that rounds every node.
std::vector<OverflowCase> overflow_cases(const graph::Graph& graph, const Findings& findings);

/// What a second computation of the same outputs is.
enum class Computed : uint8_t {
  Overflowing,  // without roundings, with overflow: equal to the truth where nothing overflows
  OpByOp,       // rounded as declared
  AtPoles       // rounded as declared, and nothing overflows: infinite bounds come from poles
};

/// Adds to `truths` what `others`, the same outputs computed again, allow besides.
void add_alternatives(const std::vector<ports::Truth>& others, Computed how, bool flush,
                      int threads, std::vector<ports::Truth>& truths);

}  // namespace kw::truth
