// Softmax and the normalisation layers, by the formulas of PyTorch's CUDA kernels. Half types use
// fp32 for statistics and the affine step, with one rounding at the end.
#pragma once

#include <optional>

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

using MaybeNode = std::optional<NodeId>;

Result<NodeId> softmax(Builder& b, NodeId x, int dim, MaybeType dtype = {});
Result<NodeId> log_softmax(Builder& b, NodeId x, int dim, MaybeType dtype = {});

/// Over the last dims, which must equal `normalized`. weight and bias have that shape.
Result<NodeId> layer_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                          MaybeNode bias, const Number& eps);
/// Without eps: the machine epsilon of the type to compute in.
Result<NodeId> rms_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                        std::optional<Number> eps);
/// x is [N, C, …]; each group has C / groups channels.
Result<NodeId> group_norm(Builder& b, NodeId x, int64_t groups, MaybeNode weight, MaybeNode bias,
                          const Number& eps);

/// The values that normalise a channel. `training`: uses the batch, otherwise the running values.
struct ChannelNorm {
  MaybeNode running_mean, running_var, weight, bias;
  bool training = false;
  Number eps = 1e-5;
};
/// x is [N, C] or [N, C, …].
Result<NodeId> batch_norm(Builder& b, NodeId x, const ChannelNorm& norm);
/// Each channel of each sample separately. `training` is use_input_stats of F.instance_norm.
Result<NodeId> instance_norm(Builder& b, NodeId x, const ChannelNorm& norm);
/// The running values after a training step: (1 - momentum) * old + momentum * value of this batch.
struct RunningStats {
  NodeId mean = -1, var = -1;
};
Result<RunningStats> batch_norm_update(Builder& b, NodeId x, const ChannelNorm& norm,
                                       double momentum);
/// Across channels: x / (k + alpha * mean of squares over `size` neighbours) ^ beta.
Result<NodeId> local_response_norm(Builder& b, NodeId x, int64_t size, double alpha, double beta,
                                   double k);

}  // namespace kw::graph
