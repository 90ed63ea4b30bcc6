// Aliasing: what makes `y = x[0]; y += 1` change x. A cell is the storage a tensor variable refers
// to; a view's cell knows its base and the movements that lead from it, so reads follow writes of
// the base and writes are carried back. Works on graph nodes only, without knowing Python.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/result.h"
#include "frontend/value.h"
#include "graph/builder.h"

namespace kw::frontend {

struct Cell {
  graph::NodeId node = -1;
  uint64_t version = 0;            // counts writes to this cell; views compare
  std::shared_ptr<Cell> base;      // of a view: always the root, never another view
  uint64_t base_version = 0;       // the base's when `node` was computed
  std::vector<graph::Node> steps;  // movements from the base's node to this one
};

/// What PyTorch promises about the memory behind the result of an operation.
enum class Sharing : uint8_t {
  View,       // always the same memory
  Reshape,    // the same memory where strides permit, else a copy
  Contiguous  // the same memory when it is contiguous, else a copy
};

/// A tensor with a cell of its own.
Tensor new_tensor(graph::NodeId node);
/// `node` was made from `base` by movements. When other operations lie between, it is a tensor of
/// its own.
Tensor view_of(graph::Builder& graph, const Tensor& base, graph::NodeId node, Sharing sharing);
/// Whether the tensor lies in memory without gaps, last dim fastest.
bool is_contiguous(graph::Builder& graph, const Tensor& tensor);
/// The node that holds the tensor's value now.
Result<graph::NodeId> read(graph::Builder& graph, const Tensor& tensor);
/// Gives the tensor, its base and every view of it a new value of its own shape and dtype.
Status write(graph::Builder& graph, const Tensor& tensor, graph::NodeId value);

/// Lists in lists in lists: deeper is refused, so that a list that contains itself ends.
inline constexpr int kMaxNesting = 32;
/// Every tensor inside as the plain node that holds its value now.
Result<Value> plain(graph::Builder& graph, const Value& value, int depth = 0);

}  // namespace kw::frontend
