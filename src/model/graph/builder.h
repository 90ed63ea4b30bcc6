// Builds graphs with the rules of PyTorch: broadcasting, dtype promotion, opmath in fp32 for half
// types. Composed operations are free functions over a Builder (compose_*.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/promote.h"

namespace kw::graph {

class Builder {
 public:
  /// Sets the origin and place of all nodes added from now on.
  void at(std::string origin, int line, int column);
  /// Sets the origin and keeps the place.
  void at(std::string origin);

  NodeId input(const std::string& name, DType dtype, Shape shape);
  /// The number as PyTorch's kernels receive it: fp32 for fp32 and the half types.
  NodeId constant(DType dtype, double value);
  /// The same for a number that follows from dims and scalars.
  NodeId constant(DType dtype, const Number& value);
  NodeId constant_int(DType dtype, int64_t value);
  /// A number computed from dims; generated code can compute it again for other dims.
  NodeId constant_dim(DType dtype, const Dim& value);
  NodeId iota(Shape shape, int dim, DType dtype);

  // Primitives. Shapes and dtypes of operands are matched as in PyTorch. A mismatch is an input
  // Error in PyTorch's words: "The size of tensor a (3) must match the size of tensor b (4) at
  // non-singleton dimension 1". Dims may be negative.
  Result<NodeId> unary(Op op, NodeId x);  // float functions convert integers to fp32
  /// Promotes and broadcasts; half types are rounded once. Div is true division. FloorDiv and
  /// Remainder follow Python, Fmod follows C, for integers too.
  Result<NodeId> binary(Op op, Operand a, Operand b);
  Result<NodeId> where(NodeId condition, Operand a, Operand b);
  NodeId cast(NodeId x, DType to);  // adds no node if the dtype is the same
  /// Without dims: over all dims. Integers are summed and multiplied as int64.
  Result<NodeId> reduce(Op op, NodeId x, std::vector<int> dims, bool keepdim);
  Result<NodeId> scan(Op op, NodeId x, int dim, bool reverse = false, bool exclusive = false);
  Result<NodeId> matmul(NodeId a, NodeId b);      // torch.matmul: vectors, batches, broadcasting
  Result<NodeId> reshape(NodeId x, Shape shape);  // one extent may be -1
  Result<NodeId> permute(NodeId x, std::vector<int> dims);
  Result<NodeId> expand(NodeId x, Shape shape);  // -1 keeps an extent
  /// Needs normalised arguments: 0 <= start <= stop <= extent, step > 0.
  Result<NodeId> slice(NodeId x, int dim, const Dim& start, const Dim& stop, int64_t step = 1);
  Result<NodeId> add(Node node);  // any other op with its attributes; shape and dtype are inferred

  const Node& operator[](NodeId id) const { return graph_[id]; }
  int rank(NodeId id) const { return static_cast<int>(graph_[id].shape.size()); }
  const Dim& extent(NodeId id, int dim) const;  // 0 <= dim < rank
  DType dtype(NodeId id) const { return graph_[id].dtype; }
  /// Counts negative dims from the end. A dim out of range is an Error in PyTorch's words. Rank 0
  /// is treated as rank 1.
  Result<int> wrap_dim(int64_t dim, NodeId x) const;
  /// Wrapped and sorted. A dim named twice is an Error. Without dims: all dims.
  Result<std::vector<int>> wrap_dims(const std::vector<int>& dims, NodeId x) const;

  /// torch.result_type of these operands.
  Result<DType> result_type(std::span<const Operand> operands) const;
  /// Converts the operand to a tensor of this dtype. A number becomes a constant of rank 0.
  Result<NodeId> as_tensor(const Operand& operand, DType dtype);
  /// The shape that all of these broadcast to. Adds guards for symbolic extents that decided it.
  Result<Shape> broadcast(std::span<const NodeId> tensors);
  Result<Shape> broadcast_shapes(std::span<const Shape> shapes);

  /// Records a condition on the dims that the trace assumes: "D % 2 == 0".
  void guard(std::string condition);
  /// Guards a == b when only their values are equal.
  void guard_equal(const Dim& a, const Dim& b);
  /// Guards low <= high when only their values show it.
  void guard_at_most(const Dim& low, const Dim& high);

  /// Ends the trace and returns the graph.
  Graph finish(std::vector<NamedNode> outputs) &&;

 private:
  NodeId push(Node node);
  Result<NodeId> pointwise(Op op, std::vector<NodeId> inputs);  // one dtype each; broadcasts
  Result<NodeId> dot(NodeId a, NodeId b);
  Result<NodeId> matrices(NodeId a, NodeId b);
  Result<NodeId> drop_dims(NodeId x, const std::vector<int>& dims);
  Graph graph_;
  std::string origin_;
  int line_ = 0, column_ = 0;
};

}  // namespace kw::graph
