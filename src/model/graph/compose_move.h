// Moves elements without changing their values. reshape, permute and expand are in Builder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

Result<NodeId> transpose(Builder& b, NodeId x, int first, int second);
Result<NodeId> movedim(Builder& b, NodeId x, const Dims& from, const Dims& to);
/// Without dims: removes every extent that is 1; symbolic ones are guarded.
Result<NodeId> squeeze(Builder& b, NodeId x, const Dims& dims);
Result<NodeId> unsqueeze(Builder& b, NodeId x, int dim);
Result<NodeId> flatten(Builder& b, NodeId x, int start, int end);
Result<NodeId> unflatten(Builder& b, NodeId x, int dim, const Shape& sizes);

/// Python's x[start:stop:step] along one dim: negative counts from the end, positions are clamped.
Result<NodeId> slice_range(Builder& b, NodeId x, int dim, const std::optional<Dim>& start,
                           const std::optional<Dim>& stop, int64_t step);
Result<NodeId> narrow(Builder& b, NodeId x, int dim, const Dim& start, const Dim& length);
/// x[…, index, …]: the dim is removed.
Result<NodeId> select(Builder& b, NodeId x, int dim, const Dim& index);
Result<std::vector<NodeId>> unbind(Builder& b, NodeId x, int dim);
/// Pieces of `size`; the last one may be smaller.
Result<std::vector<NodeId>> split(Builder& b, NodeId x, const Dim& size, int dim);
Result<std::vector<NodeId>> split_sizes(Builder& b, NodeId x, const Shape& sizes, int dim);
/// At most `count` pieces of equal size; the last one may be smaller.
Result<std::vector<NodeId>> chunk(Builder& b, NodeId x, int64_t count, int dim);
/// Exactly `count` pieces; the first ones may be larger.
Result<std::vector<NodeId>> tensor_split(Builder& b, NodeId x, int64_t count, int dim);

Result<NodeId> cat(Builder& b, std::vector<NodeId> tensors, int dim);
Result<NodeId> stack(Builder& b, std::vector<NodeId> tensors, int dim);
Result<NodeId> repeat(Builder& b, NodeId x, const Shape& times);
Result<NodeId> tile(Builder& b, NodeId x, const Shape& times);
/// Without dim: repeats the elements of the flattened tensor.
Result<NodeId> repeat_interleave(Builder& b, NodeId x, const Dim& times, std::optional<int> dim);
Result<NodeId> flip(Builder& b, NodeId x, const Dims& dims);
/// Without dims: rolls the flattened tensor by the one shift.
Result<NodeId> roll(Builder& b, NodeId x, const std::vector<Dim>& shifts, const Dims& dims);

enum class PadMode : uint8_t { Constant, Reflect, Replicate, Circular };
/// F.pad: `pads` are (front, back) of the last dim, then of the one before, …. Negative pads cut.
Result<NodeId> pad(Builder& b, NodeId x, const std::vector<Dim>& pads, PadMode mode, double value);

Result<NodeId> triu(Builder& b, NodeId x, const Dim& diagonal);
Result<NodeId> tril(Builder& b, NodeId x, const Dim& diagonal);
Result<NodeId> diagonal(Builder& b, NodeId x, const Dim& offset, int first, int second);
Result<NodeId> diag(Builder& b, NodeId x, const Dim& offset);
Result<NodeId> diag_embed(Builder& b, NodeId x, const Dim& offset, int first, int second);

}  // namespace kw::graph
