// How much one op may round: rows of the rules in docs/error-bound.md. The constants they are
// multiplied with are in exec/bound.h.
#pragma once

#include <cstdint>

#include "graph/op.h"
#include "tensor/dtype.h"

namespace kw::truth {

/// What one op adds on the fp32 path, in units of 2^-24 (2^-53 for fp64) unless said otherwise.
struct OpErrors {
  double relative = 0;  // of the result: L
  double argument = 0;  // of the argument, which an implementation may scale before it starts
  double absolute = 0;  // whatever the result
  double floor = 0;     // plain: results below it may become zero
};
const OpErrors& op_errors(graph::Op op);

/// Roundings of a node's dtype. Half types compute in fp32 and round once more.
struct Rounding {
  double unit = 0, tiny = 0;            // of the fp32 or fp64 path: relative, and below normals
  double limit = 0;                     // beyond it the path has infinity
  double half_unit = 0, half_tiny = 0;  // of the half type; 0 for fp32 and fp64
  double half_limit = 0;
  bool half_infinity = true;  // whether the half type has one
};
Rounding rounding_of(tensor::DType type, bool flush);

/// How far a sum may be off.
struct SumErrors {
  double a = 0, h = 0;
};
/// Of `count` terms: `t` their sum, `size` that of their magnitudes, `a` of their errors, `squares`
/// of their squared half errors.
SumErrors sum_errors(const Rounding& rounding, int64_t count, double t, double size, double a,
                     double squares);

/// fp16, bf16 and the fp8 types.
bool is_half(tensor::DType type);

}  // namespace kw::truth
