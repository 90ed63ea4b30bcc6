// Arithmetic on graph values as one writes it: `x * sigmoid(x)`. The first error is kept and all
// after it is skipped, so rows read like the documentation's formulas. Only for the op rows.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "frontend/call.h"

namespace kw::frontend {

class Formula;

/// A tensor of a formula, or a number that adapts to the tensors it meets.
struct Term {
  Formula* formula = nullptr;  // null for plain numbers
  graph::Operand value;

  Term(Formula& owner, graph::Operand operand) : formula(&owner), value(operand) {}
  Term(double number) : value(graph::Operand::of(number)) {}
  Term(int number) : value(graph::Operand::of(number)) {}
  bool is_tensor() const { return value.is_tensor(); }
};

class Formula {
 public:
  explicit Formula(Call& call) : call_(&call) {}

  Term tensor(std::string_view name);      // an argument that must be a tensor
  Term floating(std::string_view name);    // … of a float dtype
  Term operand(std::string_view name);     // a tensor or a number
  double number(std::string_view name);    // 0 after an error
  int64_t integer(std::string_view name);  // 0 after an error
  bool boolean(std::string_view name);     // false after an error
  Term node(graph::NodeId id) { return {*this, graph::Operand::tensor(id)}; }
  Term node(Result<graph::NodeId> id);

  Term converted(const Term& x, tensor::DType dtype);        // numbers become rank-0 tensors
  tensor::DType dtype(const Term& tensor) const;             // fp32 after an error
  tensor::DType type_of(std::initializer_list<Term> terms);  // what they promote to together
  int rank(const Term& tensor) const;
  graph::Builder& graph() { return call_->graph(); }
  Call& call() { return *call_; }

  Term fail(Error error);  // keeps the first
  bool failed() const { return error_.has_value(); }
  Result<Value> result(const Term& term);
  Result<Value> result(const Term& term, tensor::DType dtype);
  Result<Value> results(std::initializer_list<Term> terms);  // a tuple

  Term apply(graph::Op op, const Term& x);
  Term apply(graph::Op op, const Term& a, const Term& b);

 private:
  Call* call_;
  std::optional<Error> error_;
};

bool is_integral(tensor::DType type);  // bool too
/// `"gelu" not implemented for 'Long'`.
Error not_implemented(const Call& call, tensor::DType type);
/// A tensor of that shape, the number everywhere.
Result<graph::NodeId> filled(graph::Builder& graph, graph::Shape shape, tensor::DType dtype,
                             const graph::Operand& number);
inline Value tensor_value(graph::NodeId node) { return Value(Tensor{node}); }
Value tensor_tuple(const std::vector<graph::NodeId>& nodes);
/// The dims a reduction names; none for a tensor of rank 0, which has nothing to reduce.
Result<std::vector<int>> reduced_dims(Call& call, graph::NodeId x);
/// The tensor, or nothing for None.
Result<std::optional<graph::NodeId>> maybe_tensor(Call& call, std::string_view name);

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator-(const Term& x);
Term operator<(const Term& a, const Term& b);
Term operator<=(const Term& a, const Term& b);
Term operator>(const Term& a, const Term& b);
Term operator>=(const Term& a, const Term& b);
Term operator==(const Term& a, const Term& b);
Term operator!=(const Term& a, const Term& b);
Term operator&(const Term& a, const Term& b);
Term operator|(const Term& a, const Term& b);
Term operator~(const Term& x);
Term where(const Term& condition, const Term& a, const Term& b);
Term maximum(const Term& a, const Term& b);
Term minimum(const Term& a, const Term& b);
Term clamp(const Term& x, const Term& low, const Term& high);
Term pow(const Term& a, const Term& b);

Term abs(const Term& x);
Term exp(const Term& x);
Term log(const Term& x);
Term log1p(const Term& x);
Term expm1(const Term& x);
Term sqrt(const Term& x);
Term rsqrt(const Term& x);
Term tanh(const Term& x);
Term sigmoid(const Term& x);
Term erf(const Term& x);
Term sin(const Term& x);
Term floor(const Term& x);
Term round(const Term& x);
Term trunc(const Term& x);
Term isnan(const Term& x);
Term isinf(const Term& x);

Term cast(const Term& x, tensor::DType to);
/// In the type PyTorch's kernels compute in: half types become fp32.
Term wide(const Term& x);

/// One float tensor "input" through a formula computed in the wide type, rounded once at the end.
template <typename F>
Result<Value> activation(Call& call, F f) {
  Formula formula(call);
  Term x = formula.floating("input");
  return formula.result(f(wide(x), formula), formula.dtype(x));
}

/// The same for functions that take integers and bool to fp32.
template <typename F>
Result<Value> float_function(Call& call, F f) {
  Formula formula(call);
  Term x = formula.tensor("input");
  tensor::DType type = graph::float_type(formula.dtype(x));
  return formula.result(f(wide(cast(x, type)), formula), type);
}

}  // namespace kw::frontend
