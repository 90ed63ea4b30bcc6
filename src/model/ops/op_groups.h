// Groups of ops that several modules treat alike. What differs from op to op is a column of
// table.def.
#pragma once

#include "ops/op.h"

namespace kw::ops {

/// Rounds to a whole number.
inline bool rounds_to_integer(Op op) { return between(op, Op::Floor, Op::Round); }
/// Constant between its discontinuities.
inline bool is_step(Op op) { return op == Op::Sign || rounds_to_integer(op); }
inline bool is_comparison(Op op) { return between(op, Op::Eq, Op::Ge); }
/// The larger or the smaller of two operands.
inline bool is_extremum(Op op) { return between(op, Op::Maximum, Op::Fmin); }
/// Undefined for integers where the divisor is 0.
inline bool is_division(Op op) {
  return op == Op::Div || op == Op::FloorDiv || op == Op::Remainder || op == Op::Fmod;
}
/// A scan whose results are values, not positions.
inline bool scans_values(Op op) {
  return op_info(op).kind == OpKind::Scan && op != Op::CumMaxIndex && op != Op::CumMinIndex;
}
/// The result is a position along a dim.
inline bool gives_position(Op op) {
  return op == Op::ArgMax || op == Op::ArgMin || op == Op::CumMaxIndex || op == Op::CumMinIndex ||
         op == Op::SortIndices || op == Op::TopKIndices;
}

}  // namespace kw::ops
