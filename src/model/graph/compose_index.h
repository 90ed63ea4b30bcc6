// Elements chosen by tensors of indices. Indices are int64; int32 ones are converted where PyTorch
// takes them.
#pragma once

#include <optional>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

Result<NodeId> gather(Builder& b, NodeId x, int dim, NodeId index);
Result<NodeId> take_along_dim(Builder& b, NodeId x, NodeId index, std::optional<int> dim);
Result<NodeId> index_select(Builder& b, NodeId x, int dim, NodeId index);
Result<NodeId> embedding(Builder& b, NodeId index, NodeId weight);
/// Positions in the flattened tensor.
Result<NodeId> take(Builder& b, NodeId x, NodeId index);
/// x[i, :, j]: one entry per leading dim, nothing for ':'. Integer indices broadcast together and
/// may be negative; bool masks have no static shape and are refused.
Result<NodeId> index(Builder& b, NodeId x, const std::vector<std::optional<NodeId>>& indices);

/// `source` may be a number. Set: torch.scatter; Add, Multiply, Max, Min: scatter_add and
/// scatter_reduce with include_self.
Result<NodeId> scatter(Builder& b, NodeId x, int dim, NodeId index, Operand source,
                       ScatterMode mode);
Result<NodeId> index_add(Builder& b, NodeId x, int dim, NodeId index, NodeId source, Operand alpha);
Result<NodeId> index_copy(Builder& b, NodeId x, int dim, NodeId index, NodeId source);
Result<NodeId> index_fill(Builder& b, NodeId x, int dim, NodeId index, Operand value);
Result<NodeId> masked_fill(Builder& b, NodeId x, NodeId mask, Operand value);
/// int64, a last dim of `classes`.
Result<NodeId> one_hot(Builder& b, NodeId index, const Dim& classes);

/// F.dropout in training with a given mask (bool or numbers, 1 keeps): x * mask / (1 - p).
Result<NodeId> dropout_mask(Builder& b, NodeId x, NodeId mask, double p);
/// Kept where the element's Philox uniform is >= p (docs/graph.md); seed and offset are int64 of
/// rank 0.
Result<NodeId> dropout_philox(Builder& b, NodeId x, double p, NodeId seed, NodeId offset);
/// uniform fp32 in [0, 1) of this shape.
Result<NodeId> philox(Builder& b, Shape shape, NodeId seed, NodeId offset);

}  // namespace kw::graph
