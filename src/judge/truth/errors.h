// The rounding errors of each op: rows of the rules in docs/error-bound.md. ports/bound.h has the
// constants they are multiplied with.
#pragma once

#include <cstdint>

#include "graph/graph_op.h"
#include "tensor/dtype.h"
#include "truth/sum_rules.h"

namespace kw::truth {

/// Rows of the op table.
const OpErrors& op_errors(graph::Op op);

Rounding rounding_of(tensor::DType type, bool flush);

/// The same without limits: nothing overflows.
Rounding without_limits(Rounding rounding);

/// Returns a sum of `count` terms with its errors.
TrackedValue sum_errors(const Rounding& rounding, double count, const Summed& sum);

/// The rounding of a value to which a sum of `terms` is added one by one, in units of its
/// magnitude; 0 for a single term.
double joined_units(double terms);

/// True for every float type except fp32 and fp64.
bool is_half(tensor::DType type);

}  // namespace kw::truth
