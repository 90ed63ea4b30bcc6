// The rounding errors of each op: rows of the rules in docs/error-bound.md. ports/bound.h has the
// constants they are multiplied with.
#pragma once

#include <cstdint>

#include "graph/op.h"
#include "tensor/dtype.h"

namespace kw::truth {

/// The error that one op adds on the fp32 path, in units of 2^-24 (2^-53 for fp64), except `floor`.
struct OpErrors {
  double relative = 0;  // relative to the result: L
  double argument = 0;  // relative to the argument, which an implementation may scale first
  double absolute = 0;  // independent of the result
  double floor = 0;     // not in units: smaller results may become zero
};
const OpErrors& op_errors(graph::Op op);

/// The roundings of a node's dtype. Half types compute in fp32 and round once more.
struct Rounding {
  double unit = 0, tiny = 0;            // fp32 or fp64 path: relative, and for subnormals
  double limit = 0;                     // larger results overflow on this path
  double half_unit = 0, half_tiny = 0;  // of the half type; 0 for fp32 and fp64
  double half_limit = 0;
  bool half_infinity = true;  // whether the half type has an infinity
};
Rounding rounding_of(tensor::DType type, bool flush);

/// The errors of a sum.
struct SumErrors {
  double a = 0, h = 0;
};
/// Returns the errors of a sum of `count` terms: `t` is the sum, `size` the sum of magnitudes, `a`
/// the sum of errors, `squares` the sum of squared half errors.
SumErrors sum_errors(const Rounding& rounding, int64_t count, double t, double size, double a,
                     double squares);

/// True for every float type except fp32 and fp64.
bool is_half(tensor::DType type);

}  // namespace kw::truth
