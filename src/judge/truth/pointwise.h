// Pointwise ops on chunks: the value, and the error from the operands and from the op's own
// rounding. docs/error-bound.md has the rules.
#pragma once

#include <span>

#include "graph/graph_op.h"
#include "truth/errors.h"
#include "truth/mode.h"
#include "truth/range.h"
#include "truth/values.h"

namespace kw::truth {

/// The constant properties of one op.
struct PointSpec {
  graph::Op op = graph::Op::Add;
  tensor::DType from = tensor::DType::Fp32;  // dtype of the data operands
  tensor::DType to = tensor::DType::Fp32;
  Tracks tracks;      // of the result
  Rounding rounding;  // of the result; zero if nothing is rounded
  OpErrors errors;
  Mode mode = Mode::Truth;
  bool snaps = false;  // a cast that rounds to `to`
  bool same = false;   // both operands are the same value
  /// Additions: the rounding of an operand that a kernel adds to the other one's sum early, in
  /// units of its magnitude.
  double joins_x = 0, joins_z = 0;
  int node = 0;  // index for `findings`
  NodeRange range;
  Findings* findings = nullptr;
};

struct ChunkOperand {
  const VectorLanes* lanes = nullptr;
  Tracks tracks;
};

/// Computes the first `count` elements of `out`, which must not be one of the operands.
void run_point(const PointSpec& spec, std::span<const ChunkOperand> in, int count,
               VectorLanes& out);

/// Returns the errors that the result of a pointwise op has, given those of its operands.
Tracks point_tracks(graph::Op op, tensor::DType from, tensor::DType to, std::span<const Tracks> in);

/// Return the errors of an operand; zeros if it has none.
const double* a_of(const ChunkOperand& x);
const double* h_of(const ChunkOperand& x);

}  // namespace kw::truth
