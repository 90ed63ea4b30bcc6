// Functions of one tensor, element by element. Functions with an operator of the graph come from
// ops/table.def by macro, so all facts about such an operator are in one place. The rows written
// out here differ by dtype: integers may be returned unchanged, bool may be refused, with PyTorch's
// words. Composed functions (sinc, entr, logit) compute wide and round once. The alternative, a
// graph operator for each, would need a rule in every later stage. polygamma is supported for n = 0
// only.
#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Op;
using graph::Operand;
using tensor::DType;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
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

Result<Value> frac(Call& call) {
  return activation(call, [](Term x, Formula&) { return x - trunc(x); });
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

Result<Value> logit(Call& call) {
  return float_function(call, [](Term x, Formula& f) {
    if (f.call().given("eps")) {
      double eps = f.number("eps");
      x = clamp(x, eps, 1 - eps);
    }
    return log(x / (1 - x));
  });
}

Result<Value> sinc(Call& call) {
  return float_function(call, [](Term x, Formula&) {
    Term angle = x * std::numbers::pi;
    return where(x == 0, 1.0, sin(angle) / angle);
  });
}

double largest(DType type) {
  switch (type) {
    case DType::Fp16:
      return 65504;
    case DType::Bf16:
      return std::ldexp(255.0, 120);
    case DType::Fp8e4m3:
      return 448;
    case DType::Fp8e5m2:
      return 57344;
    case DType::Fp64:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

Result<Value> nan_to_num(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed() || is_integral(f.dtype(x))) return f.result(x);
  double limit = largest(f.dtype(x));
  double nan = call.given("nan") ? f.number("nan") : 0.0;
  double high = call.given("posinf") ? f.number("posinf") : limit;
  double low = call.given("neginf") ? f.number("neginf") : -limit;
  if (f.failed()) return f.result(x);
  Term finite = where(x == kInf, high, where(x == -kInf, low, x));
  return f.result(where(isnan(x), nan, finite));
}

Result<Value> angle(Call& call) {
  return float_function(call, [](Term x, Formula& f) {
    Term half_turn = f.converted(std::numbers::pi, f.dtype(x));
    return where(isnan(x), kNan, where(x < 0, half_turn, 0.0));
  });
}

Result<Value> deg2rad(Call& call) {
  return float_function(call, [](Term x, Formula&) { return x * (std::numbers::pi / 180); });
}

Result<Value> rad2deg(Call& call) {
  return float_function(call, [](Term x, Formula&) { return x * (180 / std::numbers::pi); });
}

Result<Value> polygamma(Call& call) {
  Formula f(call);
  if (f.integer("n") != 0) {
    return input_error("polygamma(n, input) is supported for n = 0 (digamma) only");
  }
  Term x = f.tensor("input");
  return f.result(apply(Op::Digamma, cast(x, graph::float_type(f.dtype(x)))));
}

// The log of the multivariate gamma function is a sum of lgammas.
Result<Value> mvlgamma(Call& call) {
  return float_function(call, [](Term x, Formula& f) {
    int64_t p = f.integer("p");
    if (p < 1 || p > 64) return f.fail(input_error("mvlgamma(): p has to be between 1 and 64"));
    double log_pi = std::log(std::numbers::pi) * 0.25 * static_cast<double>(p * (p - 1));
    Term sum = apply(Op::Lgamma, x);
    for (int64_t j = 1; j < p; ++j) {
      sum = sum + apply(Op::Lgamma, x - static_cast<double>(j) / 2);
    }
    return p == 1 ? sum : sum + log_pi;
  });
}

Result<Value> entr(Call& call) {
  return float_function(call, [](Term x, Formula&) {
    Term inside = where(x == 0, 0.0, where(x < 0, -kInf, -x * log(x)));
    return where(isnan(x), kNan, inside);
  });
}

Result<Value> ndtr(Call& call) {
  return float_function(
      call, [](Term x, Formula&) { return apply(Op::Erfc, x * -std::numbers::sqrt2 / 2) * 0.5; });
}

Result<Value> ndtri(Call& call) {
  return float_function(
      call, [](Term p, Formula&) { return apply(Op::Erfinv, p * 2 - 1) * std::numbers::sqrt2; });
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
    {"torch.frac Tensor.frac", kOne, frac},
    {"torch.square Tensor.square", kOne, square},
    {"torch.polygamma torch.special.polygamma", "n, input", polygamma},
    {"Tensor.polygamma", "input, n", polygamma},
    {"torch.mvlgamma Tensor.mvlgamma torch.special.multigammaln", "input, p", mvlgamma},
    {"torch.logit Tensor.logit torch.special.logit", "input, eps=None", logit},
    {"torch.sinc Tensor.sinc torch.special.sinc", kOne, sinc},
    {"torch.special.entr", kOne, entr},
    {"torch.special.ndtr", kOne, ndtr},
    {"torch.special.ndtri", kOne, ndtri},
    {"torch.deg2rad Tensor.deg2rad", kOne, deg2rad},
    {"torch.rad2deg Tensor.rad2deg", kOne, rad2deg},
    {"torch.angle Tensor.angle", kOne, angle},
    {"torch.nan_to_num Tensor.nan_to_num", "input, nan=None, posinf=None, neginf=None", nan_to_num},
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
