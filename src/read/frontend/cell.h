// Aliasing: the reason why `y = x[0]; y += 1` changes x. A cell is the storage that a tensor
// variable refers to. The cell of a view knows its base and the movements that lead from it. So a
// read sees writes to the base, and a write is carried back. Works on graph nodes only, without
// knowing Python.
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
  uint64_t version = 0;            // the number of writes to this cell; views compare it
  std::shared_ptr<Cell> base;      // of a view: always the root, never another view
  uint64_t base_version = 0;       // the base's version when `node` was computed
  std::vector<graph::Node> steps;  // movements from the base's node to this one
  bool read_only = false;          // shares memory with a tensor in a way that a write cannot undo
  // Of a root: extents that decided whether another tensor shares its memory, by being 1 or not.
  std::vector<graph::Dim> decided_by;
};

/// What PyTorch guarantees about the memory of an operation's result.
enum class Sharing : uint8_t {
  View,       // always the same memory
  Reshape,    // the same memory if strides permit, otherwise a copy
  Contiguous  // the same memory if it is contiguous, otherwise a copy
};

/// A tensor with its own cell. It is not a view.
Tensor new_tensor(graph::NodeId node);
/// A view of `base`, if only movements lead from `base` to `node` and the memory is shared.
/// Otherwise a tensor with its own cell.
Tensor view_of(graph::Builder& graph, const Tensor& base, graph::NodeId node, Sharing sharing);
/// Whether the tensor has no gaps in memory, with the last dim fastest. Extents that decide it are
/// guarded.
bool is_contiguous(graph::Builder& graph, const Tensor& tensor);
/// The node that holds the tensor's current value.
Result<graph::NodeId> read(graph::Builder& graph, const Tensor& tensor);
/// Gives the tensor a new value of the same shape and dtype; its base and all views see it.
Status write(graph::Builder& graph, const Tensor& tensor, graph::NodeId value);

/// The deepest nesting of lists. Deeper ones are refused, so that a list that contains itself ends.
inline constexpr int kMaxNesting = 32;
/// The value, with every tensor inside replaced by the plain node of its current value.
Result<Value> plain(graph::Builder& graph, const Value& value, int depth = 0);

}  // namespace kw::frontend
