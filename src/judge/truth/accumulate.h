// The running state of reductions and how chunks enter it. The loops are compiled once per x86-64
// level.
#pragma once

#include <vector>

#include "graph/op.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

/// State of `width` neighbouring results.
struct Accumulators {
  explicit Accumulators(int width);

  int width;
  int64_t count = 0;       // elements per result so far
  std::vector<double> t;   // floats
  std::vector<int64_t> i;  // integers
  std::vector<float> f;    // floats in declared precision
  // Sums: a = sum a, h = sum h^2, size = sum |x|. Products: size = product of the factors above 1,
  // small = of those below. Max and Min (of negated values): the largest of t + a, t - a, t + h,
  // t - h.
  std::vector<double> a, h, size, small, down_a, down_h;
  // Sums: what the other branches of all elements amount to. Max and Min: the largest other branch
  // above and below, and the largest element that has none.
  std::vector<double> lo, hi, certain;
  bool jumps = false;
};

/// What stays the same for all chunks of one reduction.
struct Folding {
  graph::Op op = graph::Op::Sum;  // Sum, Prod, Max, Min
  tensor::DType dtype = tensor::DType::Fp32;
  Tracks in;
  Mode mode = Mode::Truth;
};

void start(const Folding& folding, Accumulators& state);
/// `count` elements from lanes[first] into result `slot`. The caller counts them.
void fold_run(const Folding& folding, const Lanes& lanes, int first, int count, int slot,
              Accumulators& state);
/// `rows` rows of state.width elements into the results one by one.
void fold_rows(const Folding& folding, const Lanes& lanes, int rows, Accumulators& state);
/// The state of later elements into that of earlier ones.
void merge(const Folding& folding, const Accumulators& later, Accumulators& state);

}  // namespace kw::truth
