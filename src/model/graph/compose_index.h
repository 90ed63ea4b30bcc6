// Chooses elements by tensors of indices. Indices are int64. An int32 index is converted when
// PyTorch accepts it.
#pragma once

#include <optional>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

Result<NodeId> gather(Builder& b, NodeId x, int dim, NodeId index);
Result<NodeId> take_along_dim(Builder& b, NodeId x, NodeId index, std::optional<int> dim);
Result<NodeId> index_select(Builder& b, NodeId x, int dim, NodeId index);
Result<NodeId> embedding(Builder& b, NodeId index, NodeId weight);
/// Indices into the flattened tensor.
Result<NodeId> take(Builder& b, NodeId x, NodeId index);
/// x[i, :, j]: one entry per leading dim, not set for ':'. Integer indices broadcast together and
/// may be negative. Bool masks have no static shape and are refused.
Result<NodeId> index(Builder& b, NodeId x, const std::vector<std::optional<NodeId>>& indices);

/// `source` may be a number. Set is torch.scatter. Add, Multiply, Max and Min are scatter_add and
/// scatter_reduce with include_self.
Result<NodeId> scatter(Builder& b, NodeId x, int dim, NodeId index, Operand source,
                       ScatterMode mode);
Result<NodeId> index_add(Builder& b, NodeId x, int dim, NodeId index, NodeId source, Operand alpha);
Result<NodeId> index_copy(Builder& b, NodeId x, int dim, NodeId index, NodeId source);
Result<NodeId> index_fill(Builder& b, NodeId x, int dim, NodeId index, Operand value);
Result<NodeId> masked_fill(Builder& b, NodeId x, NodeId mask, Operand value);
/// Returns int64, with a last dim of `classes`.
Result<NodeId> one_hot(Builder& b, NodeId index, const Dim& classes);

/// F.dropout in training with a given mask (bool or numbers, 1 keeps): x * mask * (1 / (1 - p)), 0
/// for p = 1.
Result<NodeId> dropout_mask(Builder& b, NodeId x, NodeId mask, double p);
/// Keeps an element when its Philox uniform is >= p (docs/graph.md). seed and offset are int64 of
/// rank 0.
Result<NodeId> dropout_philox(Builder& b, NodeId x, double p, NodeId seed, NodeId offset);
/// Uniform fp32 values in [0, 1) of this shape.
Result<NodeId> philox(Builder& b, Shape shape, NodeId seed, NodeId offset);

}  // namespace kw::graph
