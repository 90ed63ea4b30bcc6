// Reductions as PyTorch's CUDA kernels compute them: half types in fp32, rounded once at the end.
// In all functions: no dims means all dims, dims may be negative, keepdim keeps extents of 1.
#pragma once

#include <optional>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

using Dims = std::vector<int>;
/// An explicit dtype converts before the operation, like PyTorch's `dtype=`.
using MaybeType = std::optional<DType>;

struct ValueIndex {
  NodeId value = -1, index = -1;
};

Result<NodeId> sum(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype = {});
Result<NodeId> prod(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype = {});
Result<NodeId> mean(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype = {});
/// Sums and means that skip NaN.
Result<NodeId> nansum(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype = {});
Result<NodeId> nanmean(Builder& b, NodeId x, const Dims& dims, bool keepdim, MaybeType dtype = {});

Result<NodeId> amax(Builder& b, NodeId x, const Dims& dims, bool keepdim);
Result<NodeId> amin(Builder& b, NodeId x, const Dims& dims, bool keepdim);
/// torch.max(x, dim): the value and its first position.
Result<ValueIndex> max_along(Builder& b, NodeId x, int dim, bool keepdim);
Result<ValueIndex> min_along(Builder& b, NodeId x, int dim, bool keepdim);
/// Without dim: the position in the flattened tensor.
Result<NodeId> argmax(Builder& b, NodeId x, std::optional<int> dim, bool keepdim);
Result<NodeId> argmin(Builder& b, NodeId x, std::optional<int> dim, bool keepdim);

/// Divides by n - correction (at least 0).
Result<NodeId> var(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim);
Result<NodeId> standard_deviation(Builder& b, NodeId x, const Dims& dims, double correction,
                                  bool keepdim);
struct Moments {
  NodeId spread = -1, mean = -1;  // variance or standard deviation
};
Result<Moments> var_mean(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim);
Result<Moments> std_mean(Builder& b, NodeId x, const Dims& dims, double correction, bool keepdim);

/// torch.linalg.vector_norm and torch.norm: p = 0, 1, 2, inf, -inf or any other number.
Result<NodeId> vector_norm(Builder& b, NodeId x, double p, const Dims& dims, bool keepdim,
                           MaybeType dtype = {});
Result<NodeId> logsumexp(Builder& b, NodeId x, const Dims& dims, bool keepdim);
/// Returns bool, or uint8 for uint8.
Result<NodeId> any(Builder& b, NodeId x, const Dims& dims, bool keepdim);
Result<NodeId> all(Builder& b, NodeId x, const Dims& dims, bool keepdim);
Result<NodeId> count_nonzero(Builder& b, NodeId x, const Dims& dims);

Result<NodeId> cosine_similarity(Builder& b, NodeId x, NodeId y, int dim, const Number& eps);
/// F.normalize: x / max(|x|_p, eps).
Result<NodeId> normalize(Builder& b, NodeId x, double p, int dim, const Number& eps);
/// |x - y + eps|_p along the last dim.
Result<NodeId> pairwise_distance(Builder& b, NodeId x, NodeId y, double p, const Number& eps,
                                 bool keepdim);

}  // namespace kw::graph
