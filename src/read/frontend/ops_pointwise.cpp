// Functions of one tensor, element by element. Functions with an operator of the graph come from
// ops/table.def by macro, so all facts about such an operator are in one place. The rows written
// out here differ by dtype: integers may be returned unchanged, bool may be refused, with PyTorch's
// words. Composed functions (sinc, entr, logit) are in python/library/special.py.
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Op;
using graph::Operand;
using tensor::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();

// For functions that only floats have: integers and bool become fp32 first.
template <Op op>
Result<Value> float_unary(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  return f.result(apply(op, cast(x, graph::float_type(f.dtype(x)))));
}

// floor, ceil, trunc, round: integers are returned unchanged.
template <Op op>
Result<Value> rounding(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) return not_implemented(call, DType::Bool);
  if (f.failed() || is_integral(f.dtype(x))) return f.result(x);
  return f.result(apply(op, x));
}

Result<Value> identity(Call& call) {
  Formula f(call);
  return f.result(f.tensor("input"));
}

Result<Value> neg(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) {
    return input_error(
        "Negation, the `-` operator, on a bool tensor is not supported. If you are "
        "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  }
  return f.result(-x);
}

Result<Value> positive(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) {
    return input_error("The `+` operator, on a bool tensor is not supported.");
  }
  return f.result(x);
}

// abs and sign: unsigned values and bool are returned unchanged, or refused as in PyTorch.
template <Op op>
Result<Value> sign_function(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  const bool is_bool = !f.failed() && f.dtype(x) == DType::Bool;
  if (is_bool && op == Op::Abs) return not_implemented(call, DType::Bool);
  if (is_bool) return f.result(x);
  if (!f.failed() && op == Op::Abs && tensor::is_unsigned_int(f.dtype(x))) return f.result(x);
  return f.result(apply(op, x));
}

Result<Value> bitwise_not(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && tensor::is_float(f.dtype(x))) {
    return input_error(
        "bitwise_not only supports integer and boolean tensors: ~ (operator.invert) "
        "is only implemented on integer and Boolean-type tensors");
  }
  return f.result(~x);
}

Result<Value> logical_not(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) return f.result(~x);
  return f.result(x == 0);
}

// A bool result. Integers are always finite.
template <typename F>
Result<Value> classify(Call& call, bool for_integers, F test) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.result(x);
  if (!is_integral(f.dtype(x))) return f.result(test(x));
  Term same = x == x;
  return f.result(for_integers ? same : ~same);
}

Result<Value> signbit(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.result(x);
  if (f.dtype(x) == DType::Bool || tensor::is_unsigned_int(f.dtype(x))) return f.result(x != x);
  if (is_integral(f.dtype(x))) return f.result(x < 0);
  return f.result(apply(Op::Copysign, 1.0, x) < 0);
}

Result<Value> square(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!f.failed() && f.dtype(x) == DType::Bool) return f.result(cast(x, DType::Int64));
  return f.result(x * x);
}

Result<Value> round_row(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  int64_t decimals = f.integer("decimals");
  if (!f.failed() && f.dtype(x) == DType::Bool) return not_implemented(call, DType::Bool);
  if (f.failed() || is_integral(f.dtype(x))) return f.result(x);
  if (decimals == 0) return f.result(round(x));
  double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  Term w = wide(x);
  return f.result(decimals > 0 ? round(w * scale) / scale : round(w / scale) * scale, f.dtype(x));
}

constexpr char kOne[] = "input";

constexpr OpRow kPointwiseRows[] = {
#define KW_FUNCTION(op, name, ...) {__VA_ARGS__, kOne, float_unary<Op::op>},
#define TORCH(names) names
#include "ops/table.def"
    {"torch.abs Tensor.abs torch.absolute Tensor.absolute operator.abs", kOne,
     sign_function<Op::Abs>},
    {"torch.sign Tensor.sign torch.sgn Tensor.sgn", kOne, sign_function<Op::Sign>},
    {"torch.neg Tensor.neg torch.negative Tensor.negative operator.neg", kOne, neg},
    {"torch.positive Tensor.positive operator.pos", kOne, positive},
    {"torch.conj Tensor.conj torch.conj_physical Tensor.conj_physical torch.real torch.resolve_conj"
     " torch.resolve_neg Tensor.resolve_conj Tensor.resolve_neg",
     kOne, identity},
    {"torch.floor Tensor.floor", kOne, rounding<Op::Floor>},
    {"torch.ceil Tensor.ceil", kOne, rounding<Op::Ceil>},
    {"torch.trunc Tensor.trunc torch.fix Tensor.fix", kOne, rounding<Op::Trunc>},
    {"torch.round Tensor.round torch.special.round", "input, *, decimals=0", round_row},
    {"torch.square Tensor.square", kOne, square},
    {"torch.bitwise_not Tensor.bitwise_not operator.invert", kOne, bitwise_not},
    {"torch.logical_not Tensor.logical_not", kOne, logical_not},
    {"torch.signbit Tensor.signbit", kOne, signbit},
    {"torch.isnan Tensor.isnan", kOne,
     [](Call& call) { return classify(call, false, [](Term x) { return isnan(x); }); }},
    {"torch.isinf Tensor.isinf", kOne,
     [](Call& call) { return classify(call, false, [](Term x) { return isinf(x); }); }},
    {"torch.isfinite Tensor.isfinite", kOne,
     [](Call& call) {
       return classify(call, true, [](Term x) { return ~(isnan(x) | isinf(x)); });
     }},
    {"torch.isposinf Tensor.isposinf", kOne,
     [](Call& call) { return classify(call, false, [](Term x) { return x == kInf; }); }},
    {"torch.isneginf Tensor.isneginf", kOne,
     [](Call& call) { return classify(call, false, [](Term x) { return x == -kInf; }); }},
    {"torch.isreal Tensor.isreal", kOne,
     [](Call& call) { return classify(call, true, [](Term x) { return (x == x) | isnan(x); }); }},
};

}  // namespace

std::span<const OpRow> pointwise_rows() { return kPointwiseRows; }

}  // namespace kw::frontend
