// Computes single elements of outputs with wide numbers, where fp64 overflows or underflows on the
// way to them.
#pragma once

#include <vector>

#include "core/result.h"
#include "ports/oracle.h"

namespace kw::truth {

/// Replaces value, a and h of elements whose bound is infinite by those of a wide evaluation.
/// Elements stay as they are when the graph has an op without a wide rule, or after a limit of
/// work.
void widen_range(const graph::Graph& graph, const std::vector<tensor::HostTensor>& inputs,
                 const ports::TruthOptions& options, std::vector<ports::Truth>& truths);

}  // namespace kw::truth
