// x[...] and x[...] = v: of tensors, with views, masks and index tensors as PyTorch has them, and
// of Python's containers.
#pragma once

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

/// Ints, slices, None and Ellipsis give a view; index tensors a copy. A mask would give a shape
/// that depends on values and is refused.
Result<Value> item_of(graph::Builder& graph, const Tensor& tensor, const Value& index);
/// Writes through to whatever the tensor is a view of. Masks take one value.
Status assign_item(graph::Builder& graph, const Tensor& tensor, const Value& index,
                   const Value& value);

Result<Value> container_item(graph::Builder& graph, const Value& container, const Value& index);
Status delete_container_item(const Value& container, const Value& index);
Status assign_container_item(const Value& container, const Value& index, const Value& value);
void set_item(Dict& dict, const Value& key, const Value& value);

/// `node` with these extents, by PyTorch's broadcasting.
Result<graph::NodeId> broadcast_to(graph::Builder& graph, graph::NodeId node, graph::Shape shape);

}  // namespace kw::frontend
