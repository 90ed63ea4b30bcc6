// Helpers for the op rows: formulas over the arguments of a call, so that a row reads like the
// documentation (`x * sigmoid(x)`). Only for the op rows.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/call.h"
#include "graph/term.h"

namespace kw::frontend {

using graph::Term;

/// A formula over the arguments of one call. It keeps the first error and skips all later steps.
class Formula : public graph::Formula {
 public:
  explicit Formula(Call& call) : graph::Formula(call.graph()), call_(&call) {}

  Term tensor(std::string_view name);      // an argument that must be a tensor
  Term floating(std::string_view name);    // an argument that must be a tensor of a float dtype
  Term operand(std::string_view name);     // a tensor or a number
  double number(std::string_view name);    // 0 after an error
  int64_t integer(std::string_view name);  // 0 after an error
  bool boolean(std::string_view name);     // false after an error
  Term node(graph::NodeId id) { return (*this)(id); }
  Term node(Result<graph::NodeId> id) { return (*this)(std::move(id)); }
  Term fail(Error error);  // keeps the first error

  Term converted(const Term& x, tensor::DType dtype);        // numbers become rank-0 tensors
  tensor::DType dtype(const Term& tensor);                   // fp32 after an error
  tensor::DType type_of(std::initializer_list<Term> terms);  // the dtype they promote to together
  int rank(const Term& tensor);
  graph::Builder& graph() { return builder(); }
  Call& call() { return *call_; }

  Result<Value> result(const Term& term);
  Result<Value> result(const Term& term, tensor::DType dtype);
  Result<Value> results(std::initializer_list<Term> terms);  // a tuple

 private:
  Call* call_;
};

bool is_integral(tensor::DType type);  // true for bool, too
/// The Error `"gelu" not implemented for 'Long'`.
Error not_implemented(const Call& call, tensor::DType type);
/// A tensor of that shape with this number everywhere.
Result<graph::NodeId> filled(graph::Builder& graph, graph::Shape shape, tensor::DType dtype,
                             const graph::Operand& number);
inline Value tensor_value(graph::NodeId node) { return Value(Tensor{node}); }
Value tensor_tuple(const std::vector<graph::NodeId>& nodes, std::vector<std::string> fields = {});
/// The named tuple (values, indices) of functions such as torch.max(x, dim).
Value values_and_indices(graph::NodeId values, graph::NodeId indices);
/// The dims that a reduction names; empty for a rank-0 tensor, which has no dim.
Result<std::vector<int>> reduced_dims(Call& call, graph::NodeId x);
/// Makes it a condition of the trace that `extent` is a multiple of `divisor`; an Error if it is
/// not.
Status need_multiple(graph::Builder& graph, const graph::Dim& extent, int64_t divisor,
                     const std::string& otherwise);
/// The values of n ints, from one int for all dims or a tuple of n ints.
Result<std::vector<int64_t>> per_dim(Call& call, std::string_view name, size_t n);
/// The tensor; not set for None.
Result<std::optional<graph::NodeId>> maybe_tensor(Call& call, std::string_view name);

inline Term maximum(const Term& a, const Term& b) { return apply(graph::Op::Maximum, a, b); }
inline Term minimum(const Term& a, const Term& b) { return apply(graph::Op::Minimum, a, b); }
inline Term pow(const Term& a, const Term& b) { return apply(graph::Op::Pow, a, b); }
inline Term abs(const Term& x) { return apply(graph::Op::Abs, x); }
inline Term round(const Term& x) { return apply(graph::Op::Round, x); }
inline Term trunc(const Term& x) { return apply(graph::Op::Trunc, x); }
inline Term isnan(const Term& x) { return apply(graph::Op::IsNan, x); }
inline Term isinf(const Term& x) { return apply(graph::Op::IsInf, x); }

}  // namespace kw::frontend
