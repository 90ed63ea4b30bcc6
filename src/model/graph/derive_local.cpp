// The derivatives of pointwise ops, by the formulas of PyTorch's autograd. Most of them are the
// GRAD column of table.def; this source gives that column its operands and helper functions.
// Written out here are the ops whose derivative depends on the call: at ties, bounds and zeros
// PyTorch decides by function, not by formula. So extremum() and square_root() look at the name of
// the call. Formulas run in the type that kernels compute in. Values are converted only when a
// formula uses them, so an unused operand adds no node. The cost: a new function of PyTorch with
// its own rule at ties must be named here.
#include <numbers>

#include "core/check.h"
#include "core/contains.h"
#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;
constexpr double kTwoBySqrtPi = 2 * std::numbers::inv_sqrtpi;

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return contains(names, name);
}

/// A node of the forward graph in the type kernels compute in. The cast is added only when a
/// formula uses it.
struct Wide {
  Formula& f;
  NodeId node;
  operator Term() const { return wide(f(node)); }
};

// The derivatives of one op. Its operands and its result are in the type kernels compute in.
class Local {
 public:
  Local(Tape& tape, Formula& f, NodeId y)
      : tape_(tape), f_(f), y_(y), node_(tape.forward[y]), work_(opmath(node_.dtype)) {}

  std::optional<Slope> by(size_t operand, const Slope& t);

 private:
  Wide x(size_t i = 0) { return {f_, node_.inputs[i]}; }
  Wide y() { return {f_, y_}; }
  std::optional<double> constant(size_t i) { return constant_of(tape_.forward, node_.inputs[i]); }
  /// t when the condition holds, otherwise 0. An infinite or NaN t has no effect there.
  Slope masked(const Term& keep, const Slope& t) {
    return {where(keep, term_of(f_, t, work_), term_of(f_, {{}, 0}, work_)), 1};
  }
  Slope dropped(const Term& drop, const Slope& t) {
    return {where(drop, term_of(f_, {{}, 0}, work_), term_of(f_, t, work_)), 1};
  }
  std::optional<Slope> of_one(const Slope& t);
  std::optional<Slope> of_two(size_t operand, const Slope& t);
  Slope product(size_t operand, const Slope& t);
  std::optional<Slope> signed_slope(size_t operand, const Slope& t);
  std::optional<Slope> power(size_t operand, const Slope& t);
  Slope extremum(size_t operand, const Slope& t);
  Slope ignoring_nan(size_t operand, const Slope& t);
  Slope square_root(const Slope& t);
  Slope angle(size_t operand, const Slope& t);
  Term trigamma(const Term& at);

  Tape& tape_;
  Formula& f_;
  NodeId y_;
  const Node& node_;
  DType work_;
};

// Norms and deviations are 0 when all elements are. PyTorch defines their derivative as 0 there.
bool smooth_at_zero(std::string_view name) {
  return name.find("norm") != name.npos || name.starts_with("std") || name == "normalize" ||
         name.find("dist") != name.npos || name == "cosine_similarity" ||
         name.find("loss") != name.npos;
}

Slope Local::square_root(const Slope& t) {
  const Slope plain = over(t, y() * 2.0);
  const std::string_view name = called(node_);
  return name != "sqrt" && smooth_at_zero(name) ? dropped(y() == Term(0.0), plain) : plain;
}

std::optional<Slope> Local::of_one(const Slope& t) {
  const Wide x = this->x(), y = this->y();
  switch (node_.op) {
#define KW_UNARY(op, name, ...) \
  case Op::op:                  \
    __VA_ARGS__ break;
#define KW_FUNCTION(op, name, ...) KW_UNARY(op, name, __VA_ARGS__)
#define GRAD(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  return std::nullopt;
}

// The derivative of digamma. The recurrence shifts the argument up until the asymptotic series is
// exact to the last bit of fp32. Arguments below 1/2 are reflected.
Term Local::trigamma(const Term& at) {
  constexpr int kShifts = 9;
  const Term mirrored = at < Term(0.5);
  Term z = where(mirrored, Term(1.0) - at, at);
  Term total = Term(1.0) / (z * z);
  for (int i = 1; i < kShifts; ++i) {
    z = z + 1.0;
    total = total + Term(1.0) / (z * z);
  }
  z = z + 1.0;
  const Term r = Term(1.0) / (z * z);
  Term series = r * (5.0 / 66.0) - 1.0 / 30.0;
  series = r * series + 1.0 / 42.0;
  series = r * series - 1.0 / 30.0;
  series = r * series + 1.0 / 6.0;
  total = total + Term(1.0) / z + r * 0.5 + r * series / z;
  const Term sine = apply(Op::Sin, at * std::numbers::pi);
  const Term around = Term(std::numbers::pi * std::numbers::pi) / (sine * sine);
  return where(mirrored, around - total, total);
}

// maximum and minimum, and functions that use them only to keep exponentials small.
bool smooth_or_shared(std::string_view name) {
  return one_of(name, {"maximum", "minimum", "max", "min", "logsigmoid", "log_sigmoid_forward",
                       "softplus", "logaddexp", "logaddexp2", "binary_cross_entropy_with_logits"});
}

// Decides which operand gets the derivative when both are equal. relu: neither. clamp: the value,
// in full. maximum: half each.
Slope Local::extremum(size_t operand, const Slope& t) {
  const std::string_view name = called(node_);
  const size_t other = 1 - operand;
  const bool largest = node_.op == Op::Maximum;
  const Term mine = f_(node_.inputs[operand]), theirs = f_(node_.inputs[other]);
  const Term loses = largest ? mine < theirs : mine > theirs;
  if (name == "gaussian_nll_loss" && constant(other)) return t;  // PyTorch clamps without autograd
  const bool bounded = constant(other) || one_of(name, {"clamp", "clip", "clamp_min", "clamp_max"});
  if (one_of(name, {"relu", "relu6", "hardtanh", "hardsigmoid", "hardswish"}) && constant(other))
    return dropped(largest ? mine <= theirs : mine >= theirs, t);
  if (bounded && !smooth_or_shared(name)) {
    // The bound gets the gradient of clamped elements, as PyTorch does for a tensor of bounds.
    if (operand == 0 || constant(other))
      return masked(largest ? mine >= theirs : mine <= theirs, t);
    return masked(largest ? mine > theirs : mine < theirs, t);
  }
  const Term whole = term_of(f_, t, work_);
  const Term shared = where(mine == theirs, whole * 0.5, whole);
  return {where(loses, term_of(f_, {{}, 0}, work_), shared), 1};
}

Slope Local::ignoring_nan(size_t operand, const Slope& t) {
  const Term a = f_(node_.inputs[0]), b = f_(node_.inputs[1]);
  const Term first = (node_.op == Op::Fmax ? a >= b : a <= b) | apply(Op::IsNan, b);
  return operand == 0 ? masked(first, t) : dropped(first, t);
}

std::optional<Slope> Local::power(size_t operand, const Slope& t) {
  const std::optional<double> exponent = constant(1);
  if (operand == 1) {
    const Term plain = y() * apply(Op::Log, x(0));
    const Term zero = (x(0) == Term(0.0)) & (x(1) >= Term(0.0));
    return scaled(t, where(zero, term_of(f_, {{}, 0}, work_), plain));
  }
  if (exponent == 0.0) return std::nullopt;
  if (exponent == 1.0) return t;
  if (exponent == 2.0) return scaled(t, x(0) * 2.0);
  if (exponent) {
    const Slope plain = scaled(t, apply(Op::Pow, x(0), *exponent - 1) * *exponent);
    return smooth_at_zero(called(node_)) ? dropped(x(0) == Term(0.0), plain) : plain;
  }
  const Term slope = x(1) * apply(Op::Pow, x(0), x(1) - 1.0);
  return dropped(x(1) == Term(0.0), scaled(t, slope));
}

Slope Local::angle(size_t operand, const Slope& t) {
  const Term size = x(0) * x(0) + x(1) * x(1);
  const Slope plain = over(scaled(t, operand == 0 ? x(1) : -x(0)), size);
  return dropped(size == Term(0.0), plain);
}

Slope Local::product(size_t operand, const Slope& t) {
  if (const auto number = constant(1 - operand)) return scaled(t, *number);
  return scaled(t, x(1 - operand));
}

std::optional<Slope> Local::signed_slope(size_t operand, const Slope& t) {
  if (operand != 0) return std::nullopt;
  return dropped(x(0) == Term(0.0), t * (y() / x(0)));
}

std::optional<Slope> Local::of_two(size_t operand, const Slope& t) {
  const bool first = operand == 0;
  const Wide x = this->x(0), z = this->x(1), y = this->y();
  switch (node_.op) {
#define KW_BINARY(op, name, ...) \
  case Op::op:                   \
    __VA_ARGS__ break;
#define GRAD(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  return std::nullopt;
}

std::optional<Slope> Local::by(size_t operand, const Slope& t) {
  if (node_.op == Op::Where) {
    const Term condition = f_(node_.inputs[0]);
    return operand == 1 ? masked(condition, t) : dropped(condition, t);
  }
  return node_.inputs.size() == 1 ? of_one(t) : of_two(operand, t);
}

}  // namespace

Slope scaled(const Slope& t, const Term& factor) {
  if (t.tensor) return {*t.tensor * factor, 1};
  if (t.number == 1) return {factor, 1};
  return {factor * t.number, 1};
}

Slope over(const Slope& t, const Term& divisor) {
  if (t.tensor) return {*t.tensor / divisor, 1};
  return {Term(t.number) / divisor, 1};
}

Slope scaled(const Slope& t, double factor) {
  if (!t.tensor) return {{}, t.number * factor};
  if (factor == 1) return t;
  if (factor == -1) return {-*t.tensor, 1};
  return {*t.tensor * factor, 1};
}

Slope sum_of(const Slope& a, const Slope& b) {
  if (!a.tensor && !b.tensor) return {{}, a.number + b.number};
  if (!a.tensor) return {*b.tensor + a.number, 1};
  if (!b.tensor) return {*a.tensor + b.number, 1};
  return {*a.tensor + *b.tensor, 1};
}

Term term_of(Formula& f, const Slope& t, DType dtype) {
  if (t.tensor) return cast(*t.tensor, dtype);
  return f(f.builder().constant(dtype, t.number));
}

std::optional<Slope> local(Tape& tape, Formula& f, NodeId y, size_t operand, const Slope& t) {
  KW_CHECK(op_info(tape.forward[y].op).kind == OpKind::Pointwise, "pointwise nodes only");
  return Local(tape, f, y).by(operand, t);
}

}  // namespace kw::graph
