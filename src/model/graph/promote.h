// PyTorch's rules for the dtype of an operation: the promotion lattice, the categories of operands,
// and the type kernels compute in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "graph/graph.h"

namespace kw::graph {

/// A Python float: its value in this trace, and how it follows from dims and scalars (see
/// Attrs::number_text).
struct Number {
  double value = 0;
  std::string text = {};

  Number(double literal = 0) : value(literal) {}
  Number(double number, std::string follows) : value(number), text(std::move(follows)) {}
  bool is(double literal) const { return text.empty() && value == literal; }
};

/// A tensor, or a Python number that adapts to the dtype of the tensors (PyTorch's "wrapped
/// number").
struct Operand {
  NodeId node = -1;   // a tensor when >= 0
  double number = 0;  // otherwise a number …
  int64_t integer = 0;
  enum class Kind : uint8_t { Tensor, Bool, Int, Float } kind = Kind::Tensor;
  Dim dim = 0;            // the expression of an Int over the dims
  std::string text = {};  // of a Float: see Number

  static Operand tensor(NodeId id) { return {id, 0, 0, Kind::Tensor, 0}; }
  static Operand of(double value) { return {-1, value, 0, Kind::Float, 0}; }
  static Operand of(const Number& value) {
    return {-1, value.value, 0, Kind::Float, 0, value.text};
  }
  /// A Python int that follows from scalars.
  static Operand of_whole(const Number& value) {
    return {-1, value.value, static_cast<int64_t>(value.value), Kind::Int, 0, value.text};
  }
  static Operand of(int64_t value) { return of(Dim(value)); }
  static Operand of(int value) { return of(Dim(value)); }
  static Operand of(const Dim& value) {
    return {-1, static_cast<double>(value.value()), value.value(), Kind::Int, value};
  }
  static Operand of_bool(bool value) {
    return {-1, value ? 1.0 : 0.0, value ? 1 : 0, Kind::Bool, 0};
  }
  bool is_tensor() const { return kind == Kind::Tensor; }
  /// Whether it is this number, whatever dims and scalars are.
  bool is(double literal) const {
    return !is_tensor() && number == literal && text.empty() && dim.is_constant();
  }
};

/// torch.promote_types. Not set when PyTorch refuses: fp8 or wide unsigned with another type.
std::optional<DType> try_promote(DType a, DType b);
/// The same for two dtypes that are known to promote.
DType promote(DType a, DType b);

/// The priority of operands: tensors with dims, then tensors of rank 0, then numbers. A lower
/// category counts only if its kind is higher (bool < integer < float).
struct Categories {
  std::optional<DType> dimensioned, rank_0, number;
};
std::optional<DType> combine(const Categories& categories);

/// The type PyTorch's CUDA kernels compute in: fp32 for fp16, bf16 and fp8, otherwise `type`.
DType opmath(DType type);
/// `type` for floats, fp32 (PyTorch's default) for integers and bool.
DType float_type(DType type);
bool is_integer(DType type);  // signed or unsigned; not bool
/// fp8, fp4, e8m0: stored and converted, but not used in arithmetic.
bool is_storage_only(DType type);

/// The value rounded to nearest in this float type.
double round_to(DType type, double value);
Number round_to(DType type, const Number& number);
/// The name in PyTorch's messages: "Float", "Half", "Long", "Bool".
const char* torch_name(DType type);

}  // namespace kw::graph
