#include "frontend/ops_formula.h"

#include <fmt/core.h>

#include "base/check.h"

namespace kw::frontend {

using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

bool is_integral(DType type) { return !tensor::is_float(type); }

Error not_implemented(const Call& call, DType type) {
  return input_error(
      fmt::format("\"{}\" not implemented for '{}'", call.function(), graph::torch_name(type)));
}

Result<NodeId> filled(graph::Builder& graph, graph::Shape shape, DType dtype,
                      const Operand& number) {
  NodeId scalar = KW_TRY(graph.as_tensor(number, dtype));
  return graph.expand(scalar, std::move(shape));
}

Value tensor_tuple(const std::vector<NodeId>& nodes) {
  std::vector<Value> items;
  for (NodeId node : nodes) items.push_back(tensor_value(node));
  return make_tuple(std::move(items));
}

Result<std::vector<int>> reduced_dims(Call& call, NodeId x) {
  std::vector<int> dims = KW_TRY(call.dims("dim", x));
  if (call.graph().rank(x) == 0) dims.clear();
  return dims;
}

Result<std::optional<NodeId>> maybe_tensor(Call& call, std::string_view name) {
  if (!call.given(name)) return std::optional<NodeId>{};
  return std::optional<NodeId>(KW_TRY(call.tensor(name)));
}

Term Formula::fail(Error error) {
  if (!error_) error_ = std::move(error);
  return {*this, Operand::tensor(-1)};
}

Term Formula::node(Result<NodeId> id) { return id ? node(*id) : fail(std::move(id).error()); }

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
  return operand ? Term(*this, *operand) : fail(std::move(operand).error());
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

DType Formula::dtype(const Term& tensor) const {
  return failed() || tensor.value.node < 0 ? DType::Fp32 : call_->graph()[tensor.value.node].dtype;
}

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

int Formula::rank(const Term& tensor) const {
  return failed() || tensor.value.node < 0 ? 0 : call_->graph().rank(tensor.value.node);
}

Result<Value> Formula::result(const Term& term) {
  if (error_) return *error_;
  KW_CHECK(term.value.node >= 0, "a formula ends in a tensor");
  return Value(Tensor{term.value.node});
}

Result<Value> Formula::result(const Term& term, DType dtype) { return result(cast(term, dtype)); }

Result<Value> Formula::results(std::initializer_list<Term> terms) {
  std::vector<Value> items;
  for (const Term& term : terms) items.push_back(KW_TRY(result(term)));
  return make_tuple(std::move(items));
}

Term Formula::apply(Op op, const Term& x) {
  if (failed()) return x;
  KW_CHECK(x.value.node >= 0, "functions are applied to tensors");
  return node(graph().unary(op, x.value.node));
}

Term Formula::apply(Op op, const Term& a, const Term& b) {
  if (failed()) return node(NodeId{-1});
  return node(graph().binary(op, a.value, b.value));
}

namespace {

Formula& formula_of(const Term& a, const Term& b) {
  Formula* formula = a.formula ? a.formula : b.formula;
  KW_CHECK(formula != nullptr, "a formula holds a tensor");
  return *formula;
}

Term binary(Op op, const Term& a, const Term& b) { return formula_of(a, b).apply(op, a, b); }

Term unary(Op op, const Term& x) { return formula_of(x, x).apply(op, x); }

}  // namespace

Term operator+(const Term& a, const Term& b) { return binary(Op::Add, a, b); }
Term operator-(const Term& a, const Term& b) { return binary(Op::Sub, a, b); }
Term operator*(const Term& a, const Term& b) { return binary(Op::Mul, a, b); }
Term operator/(const Term& a, const Term& b) { return binary(Op::Div, a, b); }
Term operator-(const Term& x) { return unary(Op::Neg, x); }
Term operator<(const Term& a, const Term& b) { return binary(Op::Lt, a, b); }
Term operator<=(const Term& a, const Term& b) { return binary(Op::Le, a, b); }
Term operator>(const Term& a, const Term& b) { return binary(Op::Gt, a, b); }
Term operator>=(const Term& a, const Term& b) { return binary(Op::Ge, a, b); }
Term operator==(const Term& a, const Term& b) { return binary(Op::Eq, a, b); }
Term operator!=(const Term& a, const Term& b) { return binary(Op::Ne, a, b); }
Term operator&(const Term& a, const Term& b) { return binary(Op::And, a, b); }
Term operator|(const Term& a, const Term& b) { return binary(Op::Or, a, b); }
Term operator~(const Term& x) { return unary(Op::Not, x); }
Term maximum(const Term& a, const Term& b) { return binary(Op::Maximum, a, b); }
Term minimum(const Term& a, const Term& b) { return binary(Op::Minimum, a, b); }
Term clamp(const Term& x, const Term& low, const Term& high) {
  return minimum(maximum(x, low), high);
}
Term pow(const Term& a, const Term& b) { return binary(Op::Pow, a, b); }

Term where(const Term& condition, const Term& a, const Term& b) {
  Formula& formula = formula_of(condition, condition);
  if (formula.failed()) return condition;
  return formula.node(formula.graph().where(condition.value.node, a.value, b.value));
}

Term abs(const Term& x) { return unary(Op::Abs, x); }
Term exp(const Term& x) { return unary(Op::Exp, x); }
Term log(const Term& x) { return unary(Op::Log, x); }
Term log1p(const Term& x) { return unary(Op::Log1p, x); }
Term expm1(const Term& x) { return unary(Op::Expm1, x); }
Term sqrt(const Term& x) { return unary(Op::Sqrt, x); }
Term rsqrt(const Term& x) { return unary(Op::Rsqrt, x); }
Term tanh(const Term& x) { return unary(Op::Tanh, x); }
Term sigmoid(const Term& x) { return unary(Op::Sigmoid, x); }
Term erf(const Term& x) { return unary(Op::Erf, x); }
Term sin(const Term& x) { return unary(Op::Sin, x); }
Term floor(const Term& x) { return unary(Op::Floor, x); }
Term round(const Term& x) { return unary(Op::Round, x); }
Term trunc(const Term& x) { return unary(Op::Trunc, x); }
Term isnan(const Term& x) { return unary(Op::IsNan, x); }
Term isinf(const Term& x) { return unary(Op::IsInf, x); }

Term cast(const Term& x, DType to) {
  Formula& formula = formula_of(x, x);
  if (formula.failed()) return x;
  return formula.node(formula.graph().cast(x.value.node, to));
}

Term wide(const Term& x) {
  Formula& formula = formula_of(x, x);
  return cast(x, graph::opmath(formula.dtype(x)));
}

}  // namespace kw::frontend
