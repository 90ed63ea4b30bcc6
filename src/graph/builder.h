// Builds graphs with PyTorch's rules: broadcasting, dtype promotion, opmath in fp32 for half types.
// The composed operations are free functions over a Builder (compose_*.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace kw::graph {

/// A tensor, or a Python number that adapts to the tensors it meets (PyTorch's "wrapped number").
struct Operand {
  NodeId node = -1;   // a tensor when >= 0
  double number = 0;  // else a number …
  int64_t integer = 0;
  enum class Kind : uint8_t { Tensor, Bool, Int, Float } kind = Kind::Tensor;

  static Operand tensor(NodeId id) { return {id, 0, 0, Kind::Tensor}; }
  static Operand of(double value) { return {-1, value, 0, Kind::Float}; }
  static Operand of(int64_t value) { return {-1, static_cast<double>(value), value, Kind::Int}; }
  static Operand of_bool(bool value) { return {-1, value ? 1.0 : 0.0, value ? 1 : 0, Kind::Bool}; }
};

/// PyTorch's promotion lattice over dtypes and operand categories (dimensioned tensor > rank-0
/// tensor > number).
tensor::DType promote(tensor::DType a, tensor::DType b);
/// fp32 for fp16, bf16, fp8; itself otherwise: the type PyTorch's CUDA kernels compute in.
tensor::DType opmath(tensor::DType type);

class Builder {
 public:
  /// Everything added from now on carries this origin and place.
  void at(std::string origin, int line, int column);

  NodeId input(const std::string& name, tensor::DType dtype, Shape shape);
  NodeId constant(tensor::DType dtype, double value);
  NodeId constant_int(tensor::DType dtype, int64_t value);
  NodeId iota(Shape shape, int dim, tensor::DType dtype);

  // Primitives. Shapes and dtypes of operands are brought together as PyTorch does; what cannot be
  // is an input Error in PyTorch's terms: "The size of tensor a (3) must match the size of tensor b
  // (4) at dimension 1".
  Result<NodeId> unary(Op op, NodeId x);  // float functions take integers to fp32
  Result<NodeId> binary(Op op, Operand a,
                        Operand b);  // promotes, broadcasts; half types are rounded once
  Result<NodeId> where(NodeId condition, Operand a, Operand b);
  NodeId cast(NodeId x, tensor::DType to);  // no node when it has that dtype
  Result<NodeId> reduce(Op op, NodeId x, std::vector<int> dims, bool keepdim);
  Result<NodeId> scan(Op op, NodeId x, int dim, bool reverse = false, bool exclusive = false);
  Result<NodeId> matmul(NodeId a, NodeId b);      // torch.matmul: vectors, batches, broadcasting
  Result<NodeId> reshape(NodeId x, Shape shape);  // one extent may be -1
  Result<NodeId> permute(NodeId x, std::vector<int> dims);
  Result<NodeId> expand(NodeId x, Shape shape);
  Result<NodeId> slice(NodeId x, int dim, Dim start, Dim stop, int64_t step);  // already normalised
  Result<NodeId> add(Node node);  // any other op, attributes set; shape and dtype inferred

  const Node& operator[](NodeId id) const { return graph_[id]; }
  int rank(NodeId id) const { return static_cast<int>(graph_[id].shape.size()); }
  /// Negative dims counted from the end; out of range is an Error in PyTorch's terms.
  Result<int> wrap_dim(int64_t dim, NodeId x) const;
  void guard(std::string condition);

  /// Ends the trace.
  Graph finish(std::vector<NamedNode> outputs) &&;

 private:
  NodeId push(Node node);
  Graph graph_;
  std::string origin_;
  int line_ = 0, column_ = 0;
};

}  // namespace kw::graph
