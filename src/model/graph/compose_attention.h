// Scaled dot-product attention, with scores and softmax in fp32 for half types. The probabilities
// are rounded to the type of the values before the product, as in PyTorch's fused kernels.
#pragma once

#include <optional>

#include "graph/builder.h"

namespace kw::graph {

struct Attention {
  std::optional<NodeId> mask;   // bool: true takes part; otherwise added to the scores
  bool causal = false;          // query i sees the keys 0 … i
  std::optional<Number> scale;  // not set: 1 / sqrt(E)
  bool grouped = false;         // keys and values have fewer heads than queries
};
/// […, L, E], […, S, E], […, S, F] -> […, L, F]. A query that sees no key gives 0.
Result<NodeId> attention(Builder& b, NodeId query, NodeId key, NodeId value, const Attention& how);

/// Softmax along the last dim. A row that holds only -inf gives 0.
Result<NodeId> safe_softmax(Builder& b, NodeId x);

}  // namespace kw::graph
