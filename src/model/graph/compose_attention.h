// Scaled dot-product attention: scores and softmax in fp32 for half types, the probabilities
// rounded to the values' type before they are multiplied, as PyTorch's fused kernels do.
#pragma once

#include <optional>

#include "graph/builder.h"

namespace kw::graph {

struct Attention {
  std::optional<NodeId> mask;   // bool: true takes part; else added to the scores
  bool causal = false;          // query i sees the keys 0 … i
  std::optional<double> scale;  // nothing: 1 / sqrt(E)
  bool grouped = false;         // fewer heads of keys and values than of queries
};
/// […, L, E], […, S, E], […, S, F] -> […, L, F]. A query that sees no key gives 0.
Result<NodeId> attention(Builder& b, NodeId query, NodeId key, NodeId value, const Attention& how);

/// Softmax along the last dim; a row of nothing but -inf gives 0.
Result<NodeId> safe_softmax(Builder& b, NodeId x);

}  // namespace kw::graph
