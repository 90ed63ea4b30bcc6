// Matrix products with an added term: accumulated in fp32 for half types, rounded once.
// torch.matmul itself is Builder::matmul.
#pragma once

#include <optional>

#include "graph/builder.h"

namespace kw::graph {

/// Each takes exactly these ranks: two matrices; batches of equal extent; a matrix and a vector;
/// two vectors.
Result<NodeId> mm(Builder& b, NodeId x, NodeId y);
Result<NodeId> bmm(Builder& b, NodeId x, NodeId y);
Result<NodeId> mv(Builder& b, NodeId x, NodeId y);
Result<NodeId> dot(Builder& b, NodeId x, NodeId y);
Result<NodeId> outer(Builder& b, NodeId x, NodeId y);

/// x @ weight^T + bias.
Result<NodeId> linear(Builder& b, NodeId x, NodeId weight, std::optional<NodeId> bias);
/// weight is [out, left, right].
Result<NodeId> bilinear(Builder& b, NodeId x, NodeId y, NodeId weight, std::optional<NodeId> bias);

/// beta * input + alpha * (x @ y). With beta = 0 the input is not read.
struct Scales {
  Operand beta = Operand::of(1), alpha = Operand::of(1);
};
Result<NodeId> addmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales);
Result<NodeId> addmv(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales);
Result<NodeId> baddbmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales);
/// The sum of the products of a batch.
Result<NodeId> addbmm(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales);
Result<NodeId> addr(Builder& b, NodeId input, NodeId x, NodeId y, const Scales& scales);

}  // namespace kw::graph
