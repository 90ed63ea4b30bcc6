// The rules of docs/error-bound.md for one element in wide numbers: the same as in rules.h, without
// an end of the range.
#pragma once

#include "graph/graph_op.h"
#include "truth/errors.h"
#include "truth/wide.h"

namespace kw::truth {

/// A value and its errors. An infinite error means: not known.
struct WideValue {
  Wide t, a, h;
  // The same as errors of the logarithm, if the value is positive and its errors may be larger than
  // itself: 4 a and h. Negative: they follow from a and h.
  double log_a = -1, log_h = -1;
};

/// What the result of an op depends on besides its operands.
struct WideOp {
  graph::Op op = graph::Op::Add;
  tensor::DType from = tensor::DType::Fp32;  // dtype of the data operands
  tensor::DType to = tensor::DType::Fp32;
  bool same = false;  // both operands are the same value
  bool rounds_half = true;
  bool snaps = false;
  Rounding rounding;
  OpErrors errors;
};

WideValue unknown();
bool is_known(const WideValue& x);
/// Returns whether an integer is known for certain. Larger ones than 2^53 are not: a mantissa of
/// fp64 cannot hold them all.
bool is_whole(const WideValue& x);

WideValue wide_unary(const WideOp& op, const WideValue& x);
WideValue wide_binary(const WideOp& op, const WideValue& x, const WideValue& z);

/// The running state of a sum.
struct WideSum {
  Wide t, size, a, squares;
  double log_a = 0, log_h = 0;
  bool positive = true;
  void add(const WideValue& x);
  WideValue result(double count, double chain, const Rounding& r) const;
};

/// A term of a matrix product: no rounding of its own.
WideValue wide_product(const WideValue& x, const WideValue& z);

/// The larger of two (`sign` 1), or the smaller (-1).
WideValue wide_choice(const WideValue& x, const WideValue& z, double sign);

}  // namespace kw::truth
