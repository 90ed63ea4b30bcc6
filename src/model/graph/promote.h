// PyTorch's rules for which dtype an operation has: the promotion lattice, the categories of
// operands, and the type kernels compute in.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace kw::graph {

/// A tensor, or a Python number that adapts to the tensors it meets (PyTorch's "wrapped number").
struct Operand {
  NodeId node = -1;   // a tensor when >= 0
  double number = 0;  // else a number …
  int64_t integer = 0;
  enum class Kind : uint8_t { Tensor, Bool, Int, Float } kind = Kind::Tensor;
  Dim dim = 0;  // an Int, as it follows from the dims

  static Operand tensor(NodeId id) { return {id, 0, 0, Kind::Tensor, 0}; }
  static Operand of(double value) { return {-1, value, 0, Kind::Float, 0}; }
  static Operand of(int64_t value) { return of(Dim(value)); }
  static Operand of(int value) { return of(Dim(value)); }
  static Operand of(const Dim& value) {
    return {-1, static_cast<double>(value.value()), value.value(), Kind::Int, value};
  }
  static Operand of_bool(bool value) {
    return {-1, value ? 1.0 : 0.0, value ? 1 : 0, Kind::Bool, 0};
  }
  bool is_tensor() const { return kind == Kind::Tensor; }
};

/// torch.promote_types. Nothing where PyTorch refuses: fp8 or wide unsigned with another type.
std::optional<tensor::DType> try_promote(tensor::DType a, tensor::DType b);
/// The same for two that are known to promote.
tensor::DType promote(tensor::DType a, tensor::DType b);

/// How an operand weighs in: a dimensioned tensor decides, then rank-0 tensors, then numbers; a
/// lower one counts only if it is of a higher kind (bool < integer < float).
struct Categories {
  std::optional<tensor::DType> dimensioned, rank_0, number;
};
std::optional<tensor::DType> combine(const Categories& categories);

/// fp32 for fp16, bf16, fp8; itself otherwise: the type PyTorch's CUDA kernels compute in.
tensor::DType opmath(tensor::DType type);
/// Itself for floats, fp32 (PyTorch's default) for integers and bool.
tensor::DType float_type(tensor::DType type);
bool is_integer(tensor::DType type);  // signed or unsigned; not bool
/// fp8, fp4, e8m0: stored and converted, never computed with.
bool is_storage_only(tensor::DType type);

/// The value rounded to the nearest of this float type.
double round_to(tensor::DType type, double value);
/// As a message of PyTorch has it: "Float", "Half", "Long", "Bool".
const char* torch_name(tensor::DType type);

}  // namespace kw::graph
