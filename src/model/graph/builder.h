// Builds graphs with PyTorch's rules: broadcasting, dtype promotion, opmath in fp32 for half types.
// The composed operations are free functions over a Builder (compose_*.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "graph/promote.h"

namespace kw::graph {

class Builder {
 public:
  /// Everything added from now on carries this origin and place.
  void at(std::string origin, int line, int column);
  /// From now on this origin, at the same place.
  void at(std::string origin);

  NodeId input(const std::string& name, tensor::DType dtype, Shape shape);
  /// The number as PyTorch's kernels would get it: fp32 under fp32 and the half types.
  NodeId constant(tensor::DType dtype, double value);
  NodeId constant_int(tensor::DType dtype, int64_t value);
  /// A number that follows from the dims, so that generated code can follow them too.
  NodeId constant_dim(tensor::DType dtype, const Dim& value);
  NodeId iota(Shape shape, int dim, tensor::DType dtype);

  // Primitives. Shapes and dtypes of operands are brought together as PyTorch does; what cannot be
  // is an input Error in PyTorch's terms: "The size of tensor a (3) must match the size of tensor b
  // (4) at non-singleton dimension 1". Dims may be negative.
  Result<NodeId> unary(Op op, NodeId x);  // float functions take integers to fp32
  /// Promotes, broadcasts; half types are rounded once. Div is true division; FloorDiv and
  /// Remainder are Python's; Fmod is C's; integers too.
  Result<NodeId> binary(Op op, Operand a, Operand b);
  Result<NodeId> where(NodeId condition, Operand a, Operand b);
  NodeId cast(NodeId x, tensor::DType to);  // no node when it has that dtype
  /// No dims: all of them. Integers are summed and multiplied as int64.
  Result<NodeId> reduce(Op op, NodeId x, std::vector<int> dims, bool keepdim);
  Result<NodeId> scan(Op op, NodeId x, int dim, bool reverse = false, bool exclusive = false);
  Result<NodeId> matmul(NodeId a, NodeId b);      // torch.matmul: vectors, batches, broadcasting
  Result<NodeId> reshape(NodeId x, Shape shape);  // one extent may be -1
  Result<NodeId> permute(NodeId x, std::vector<int> dims);
  Result<NodeId> expand(NodeId x, Shape shape);  // -1: as it is
  /// 0 <= start <= stop <= extent, step > 0: already normalised.
  Result<NodeId> slice(NodeId x, int dim, const Dim& start, const Dim& stop, int64_t step = 1);
  Result<NodeId> add(Node node);  // any other op, attributes set; shape and dtype inferred

  const Node& operator[](NodeId id) const { return graph_[id]; }
  int rank(NodeId id) const { return static_cast<int>(graph_[id].shape.size()); }
  const Dim& extent(NodeId id, int dim) const;  // 0 <= dim < rank
  tensor::DType dtype(NodeId id) const { return graph_[id].dtype; }
  /// Negative dims counted from the end; out of range is an Error in PyTorch's terms. Rank 0
  /// counts as 1.
  Result<int> wrap_dim(int64_t dim, NodeId x) const;
  /// Wrapped, sorted; a dim named twice is an Error. None named: all.
  Result<std::vector<int>> wrap_dims(const std::vector<int>& dims, NodeId x) const;

  /// torch.result_type of these operands.
  Result<tensor::DType> result_type(std::span<const Operand> operands) const;
  /// The operand as a tensor of this dtype. A number becomes a rank-0 constant.
  Result<NodeId> as_tensor(const Operand& operand, tensor::DType dtype);
  /// The shape all of these broadcast to. Guards what rested on a symbolic extent.
  Result<Shape> broadcast(std::span<const NodeId> tensors);
  Result<Shape> broadcast_shapes(std::span<const Shape> shapes);

  /// The trace assumes this of the dims: "D % 2 == 0".
  void guard(std::string condition);
  /// Guards a == b where only their values agree.
  void guard_equal(const Dim& a, const Dim& b);
  /// Guards low <= high where only their values say so.
  void guard_at_most(const Dim& low, const Dim& high);

  /// Ends the trace.
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
