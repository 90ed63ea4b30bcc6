// The operations of the study: what the reference computes (a graph) and how kernels compute it
// (models in fp32 over a Style).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arithmetic.h"
#include "core/result.h"
#include "graph/graph.h"

namespace kw::metric {

struct Problem {
  int64_t rows = 0, cols = 0;
  tensor::DType dtype = tensor::DType::Fp32;
  std::vector<std::vector<float>> inputs;  // values of the graph's inputs
  float in(size_t input, int64_t at) const { return inputs[input][static_cast<size_t>(at)]; }
};

struct StudyOp {
  const char* name;
  Result<graph::Graph> (*build)(tensor::DType dtype, int64_t rows, int64_t cols);
  /// Before the rounding to the output's dtype.
  std::vector<float> (*model)(const Problem& problem, const Style& style);
  // Which variations mean something.
  bool sums = false;       // orders, dropped tails, samples, accumulation in half
  bool products = false;   // fused multiply-add, tf32
  bool functions = false;  // approximate ones
  bool other = false;      // an equivalent formula
  bool risky = false;      // a formula that loses digits
};
std::span<const StudyOp> study_ops();

}  // namespace kw::metric
