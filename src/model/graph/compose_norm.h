// Softmax and the normalisation layers, by the formulas of PyTorch's CUDA kernels: statistics and
// the affine step in fp32 for half types, one rounding at the end.
#pragma once

#include <optional>

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

using MaybeNode = std::optional<NodeId>;

Result<NodeId> softmax(Builder& b, NodeId x, int dim, MaybeType dtype = {});
Result<NodeId> log_softmax(Builder& b, NodeId x, int dim, MaybeType dtype = {});

/// Over the last dims, which must be `normalized`; weight and bias have that shape.
Result<NodeId> layer_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                          MaybeNode bias, double eps);
/// No eps: the machine epsilon of the type computed in.
Result<NodeId> rms_norm(Builder& b, NodeId x, const Shape& normalized, MaybeNode weight,
                        std::optional<double> eps);
/// x is [N, C, …]; groups of C / groups channels.
Result<NodeId> group_norm(Builder& b, NodeId x, int64_t groups, MaybeNode weight, MaybeNode bias,
                          double eps);

/// What a channel is normalised with; `training`: by the batch itself, else by the running values.
struct ChannelNorm {
  MaybeNode running_mean, running_var, weight, bias;
  bool training = false;
  double eps = 1e-5;
};
/// x is [N, C] or [N, C, …].
Result<NodeId> batch_norm(Builder& b, NodeId x, const ChannelNorm& norm);
/// Each channel of each sample by itself; `training`: F.instance_norm's use_input_stats.
Result<NodeId> instance_norm(Builder& b, NodeId x, const ChannelNorm& norm);
/// The running values after a training step: (1 - momentum) * old + momentum * of this batch.
struct RunningStats {
  NodeId mean = -1, var = -1;
};
Result<RunningStats> batch_norm_update(Builder& b, NodeId x, const ChannelNorm& norm,
                                       double momentum);
/// Across channels: x / (k + alpha * mean of squares over `size` neighbours) ^ beta.
Result<NodeId> local_response_norm(Builder& b, NodeId x, int64_t size, double alpha, double beta,
                                   double k);

}  // namespace kw::graph
