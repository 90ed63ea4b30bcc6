// Implements x[...] and x[...] = v. Tensors have views, masks and index tensors as in PyTorch;
// Python's containers are served too.
#pragma once

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

/// Ints, slices, None and Ellipsis give a view; index tensors give a copy. A mask is refused: the
/// shape of its result would depend on values.
Result<Value> item_of(graph::Builder& graph, const Tensor& tensor, const Value& index);
/// Writes to the tensor and to its base. Under a mask, `value` must be one value.
Status assign_item(graph::Builder& graph, const Tensor& tensor, const Value& index,
                   const Value& value);

Result<Value> container_item(graph::Builder& graph, const Value& container, const Value& index);
Status delete_container_item(const Value& container, const Value& index);
Status assign_container_item(const Value& container, const Value& index, const Value& value);
void set_item(Dict& dict, const Value& key, const Value& value);

/// `node` expanded to this shape by PyTorch's broadcasting.
Result<graph::NodeId> broadcast_to(graph::Builder& graph, graph::NodeId node, graph::Shape shape);

}  // namespace kw::frontend
