// Pointwise ops on chunks: the value, and how the errors of the operands and the op's own rounding
// reach the result. docs/error-bound.md has the rules.
#pragma once

#include <atomic>
#include <span>

#include "graph/op.h"
#include "truth/errors.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

/// What the runs over chunks find out on the way; shared by all threads.
struct Findings {
  std::atomic<bool> out_of_range = false;     // some value or bound left the declared range
  std::atomic<bool> divides_by_zero = false;  // an integer division
};

/// All that does not change from chunk to chunk.
struct PointSpec {
  graph::Op op = graph::Op::Add;
  tensor::DType from = tensor::DType::Fp32;  // of the data operands
  tensor::DType to = tensor::DType::Fp32;
  Tracks tracks;      // of the result
  Rounding rounding;  // of the result; zero where nothing is rounded
  OpErrors errors;
  Mode mode = Mode::Truth;
  bool same = false;  // both operands are the same value
  Findings* findings = nullptr;
};

struct Operand {
  const Lanes* lanes = nullptr;
  Tracks tracks;
};

/// Computes the first `count` elements of `out`, which is none of the operands.
void run_point(const PointSpec& spec, std::span<const Operand> in, int count, Lanes& out);

/// Which errors the result of a pointwise op carries, given those of its operands.
Tracks point_tracks(graph::Op op, tensor::DType from, tensor::DType to, std::span<const Tracks> in);

/// Tracks beside the values, zeros where there are none.
const double* a_of(const Operand& x);
const double* h_of(const Operand& x);

}  // namespace kw::truth
