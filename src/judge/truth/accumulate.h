// The running state of reductions, and functions that add chunks to it. The loops are compiled once
// per x86-64 level.
#pragma once

#include <vector>

#include "graph/graph_op.h"
#include "truth/mode.h"
#include "truth/values.h"

namespace kw::truth {

/// The state of `width` neighbouring results.
struct Accumulators {
  explicit Accumulators(int width);

  int width;
  int64_t count = 0;       // number of elements per result so far
  std::vector<double> t;   // floats
  std::vector<int64_t> i;  // integers
  std::vector<float> f;    // floats summed in declared precision
  // Sums: a = sum of a, h = sum of h^2, size = sum of |x|. Products: size = product of the factors
  // above 1, small = of those below. Max, and Min of negated values: a, down_a = the largest t + a,
  // t - a; h, down_h = the same with the error h + 4 a.
  std::vector<double> a, h, size, small, down_a, down_h;
  // Sums: the sum of all elements' jumps. Max and Min: the largest upper and lower end of elements
  // that jump, and the largest element that does not jump.
  std::vector<double> lo, hi, certain;
  std::vector<double> net;  // sums that may overflow: the sum of the finite terms
  bool jumps = false;
};

/// The constant properties of one reduction.
struct Folding {
  graph::Op op = graph::Op::Sum;  // Sum, Prod, Max, Min
  tensor::DType dtype = tensor::DType::Fp32;
  Tracks in;
  Mode mode = Mode::Truth;
  bool nets = false;  // whether `net` is needed
  int serial = 0;     // ports::TruthOptions::serial
};

void start(const Folding& folding, Accumulators& state);
/// Adds `count` elements from lanes[first] to result `slot`. The caller updates state.count.
void fold_run(const Folding& folding, const VectorLanes& lanes, int first, int count, int slot,
              Accumulators& state);
/// Adds `rows` rows of state.width elements, one element to each result.
void fold_rows(const Folding& folding, const VectorLanes& lanes, int rows, Accumulators& state);
/// Merges the state of later elements into that of earlier ones.
void merge(const Folding& folding, const Accumulators& later, Accumulators& state);

}  // namespace kw::truth
