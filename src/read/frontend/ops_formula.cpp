// Rows are formulas over arguments that may be missing, of a wrong type, or not tensors. A check
// after each step would hide the formula. So a Formula keeps the first error and skips all later
// steps, and the row checks once, when it takes the result. Exceptions would be shorter, but errors
// are values in this project. The cost: after an error, number() gives 0 and dtype() gives fp32. A
// row must check failed() before it uses such a value for a decision.
#include "frontend/ops_formula.h"

#include <fmt/core.h>

#include "core/check.h"
#include "frontend/numbers.h"

namespace kw::frontend {

using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

bool is_integral(DType type) { return !tensor::is_float(type); }

Error not_implemented(const Call& call, DType type) {
  return input_error("\"{}\" not implemented for '{}'", call.function(), graph::torch_name(type));
}

Result<NodeId> filled(graph::Builder& graph, graph::Shape shape, DType dtype,
                      const Operand& number) {
  NodeId scalar = KW_TRY(graph.as_tensor(number, dtype));
  return graph.expand(scalar, std::move(shape));
}

Value tensor_tuple(const std::vector<NodeId>& nodes, std::vector<std::string> fields) {
  std::vector<Value> items;
  for (NodeId node : nodes) items.push_back(tensor_value(node));
  return make_named_tuple(std::move(items), std::move(fields));
}

Value values_and_indices(NodeId values, NodeId indices) {
  return tensor_tuple({values, indices}, {"values", "indices"});
}

Result<std::vector<int>> reduced_dims(Call& call, NodeId x) {
  std::vector<int> dims = KW_TRY(call.dims("dim", x));
  if (call.graph().rank(x) == 0) dims.clear();
  return dims;
}

Status need_multiple(graph::Builder& graph, const graph::Dim& extent, int64_t divisor,
                     const std::string& otherwise) {
  if (divisor < 1 || extent.value() % divisor != 0) return input_error(otherwise);
  const std::string text = extent.text();
  const bool sum = text.find(' ') != std::string::npos;
  if (!extent.is_constant()) {
    graph.guard(fmt::format("{} % {} == 0", sum ? "(" + text + ")" : text, divisor));
  }
  return Done{};
}

Result<std::vector<int64_t>> per_dim(Call& call, std::string_view name, size_t n) {
  graph::Shape given = KW_TRY(call.sizes(name));
  if (given.size() == 1) given.resize(n, given[0]);
  if (given.size() != n) {
    return input_error(
        "{0}(): expected {1} to be a single integer value or a list of {2} values, but got {1}={3}",
        call.function(), name, n, graph::values_text(given));
  }
  // Strides and sizes of windows decide the code of a kernel, so they cannot be dims of a task.
  constexpr int64_t kLargest = 1 << 30;
  std::vector<int64_t> values;
  for (const graph::Dim& one : given) {
    values.push_back(concrete(call.graph(), one));
    if (values.back() > kLargest || values.back() < -kLargest)
      return input_error("{}(): {} {} is too large", call.function(), name, values.back());
  }
  return values;
}

Result<std::optional<NodeId>> maybe_tensor(Call& call, std::string_view name) {
  if (!call.given(name)) return std::optional<NodeId>{};
  return std::optional<NodeId>(KW_TRY(call.tensor(name)));
}

Term Formula::fail(Error error) {
  graph::Formula::fail(std::move(error));
  return node(NodeId{-1});
}

Term Formula::tensor(std::string_view name) { return node(call_->tensor(name)); }

Term Formula::floating(std::string_view name) {
  Term x = tensor(name);
  if (!failed() && is_integral(dtype(x))) {
    return fail(not_implemented(*call_, dtype(x)));
  }
  return x;
}

Term Formula::operand(std::string_view name) {
  auto operand = call_->operand(name);
  if (!operand) return fail(std::move(operand).error());
  return operand->is_tensor() ? node(operand->node) : Term(*operand);
}

double Formula::number(std::string_view name) {
  auto number = call_->number(name);
  if (number) return *number;
  fail(std::move(number).error());
  return 0;
}

int64_t Formula::integer(std::string_view name) {
  auto number = call_->integer(name);
  if (number) return *number;
  fail(std::move(number).error());
  return 0;
}

bool Formula::boolean(std::string_view name) {
  auto value = call_->boolean(name);
  if (value) return *value;
  fail(std::move(value).error());
  return false;
}

DType Formula::dtype(const Term& tensor) { return graph::dtype_of(tensor); }

DType Formula::type_of(std::initializer_list<Term> terms) {
  std::vector<Operand> operands;
  for (const Term& term : terms) operands.push_back(term.value);
  if (failed()) return DType::Fp32;
  auto type = graph().result_type(operands);
  if (type) return *type;
  fail(std::move(type).error());
  return DType::Fp32;
}

Term Formula::converted(const Term& x, DType dtype) {
  if (failed()) return node(NodeId{-1});
  return node(graph().as_tensor(x.value, dtype));
}

int Formula::rank(const Term& tensor) { return failed() ? 0 : builder().rank(tensor.value.node); }

Result<Value> Formula::result(const Term& term) { return tensor_value(KW_TRY(done(term))); }

Result<Value> Formula::result(const Term& term, DType dtype) {
  return tensor_value(KW_TRY(done(term, dtype)));
}

Result<Value> Formula::results(std::initializer_list<Term> terms) {
  std::vector<Value> items;
  for (const Term& term : terms) items.push_back(KW_TRY(result(term)));
  return make_tuple(std::move(items));
}

}  // namespace kw::frontend
