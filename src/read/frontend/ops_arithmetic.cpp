// Arithmetic, comparison and bit functions of two or three operands, and Python's operators. The
// difficulty is dtypes: operands promote as in PyTorch, bool has its own rules, and half types are
// computed in fp32 and rounded once. Each row is a formula over promoted operands. A single generic
// rule with a table of dtypes would be shorter, but add, sub, div and pow each have their own
// exceptions and error texts. Exponents such as 2 and 0.5 become products and roots, as in
// PyTorch's kernels, because edge cases differ.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Op;
using graph::Operand;
using tensor::DType;

struct Pair {
  Term a, b;
  DType type;  // the dtype that both promote to
};

// Both may be numbers (torch.add(1, 2)); then the first becomes a tensor.
Pair operands(Formula& f) {
  Term a = f.operand("input");
  Term b = f.operand("other");
  DType type = f.type_of({a, b});
  if (!a.value.is_tensor() && !b.value.is_tensor()) a = f.converted(a, type);
  return {a, b, type};
}

Term convert(const Term& x, DType to) { return x.value.is_tensor() ? cast(x, to) : x; }

template <Op op>
Result<Value> binary(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  return f.result(apply(op, p.a, p.b));
}

// For functions that only floats have: integers and bool become fp32 first.
template <Op op>
Result<Value> float_binary(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (is_integral(p.type)) {
    p.a = convert(p.a, DType::Fp32);
    p.b = convert(p.b, DType::Fp32);
  }
  return f.result(apply(op, p.a, p.b));
}

Result<Value> hypot(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (!f.failed() && is_integral(p.type)) return not_implemented(call, p.type);
  return f.result(apply(Op::Hypot, p.a, p.b));
}

template <Op op>
Result<Value> integer_binary(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (!f.failed() && tensor::is_float(p.type)) {
    f.fail(not_implemented(call, p.type));
  }
  return f.result(apply(op, p.a, p.b));
}

// A shift by a negative amount, or by at least the width, gives 0. To the right, it gives the sign.
template <Op op>
Result<Value> shift(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (!f.failed() && (tensor::is_float(p.type) || p.type == DType::Bool)) {
    f.fail(not_implemented(call, p.type));
  }
  return f.result(apply(op, p.a, p.b));
}

// a + alpha * b, rounded once.
Term scaled_sum(Formula& f, const Pair& p, bool minus) {
  Call& call = f.call();
  if (f.failed()) return p.a;
  Operand alpha = Operand::of(int64_t{1});
  if (call.given("alpha")) {
    auto given = call.operand("alpha");
    if (!given) return f.fail(std::move(given).error());
    if (given->kind == Operand::Kind::Tensor) {
      return f.fail(
          input_error("{}(): argument 'alpha' must be Number, not Tensor", call.function()));
    }
    alpha = *given;
  }
  if (alpha.kind == Operand::Kind::Bool && p.type != DType::Bool) {
    return f.fail(input_error("Boolean alpha only supported for Boolean results."));
  }
  if (is_integral(p.type) && alpha.kind == Operand::Kind::Float) {
    return f.fail(
        input_error("For integral input tensors, argument alpha must not be a floating "
                    "point number."));
  }
  Op op = minus ? Op::Sub : Op::Add;
  if (alpha.is(1)) {
    return p.type == DType::Bool ? apply(Op::Or, p.a, p.b) : apply(op, p.a, p.b);
  }
  if (p.type == DType::Bool) {
    Term kept = alpha.number == 0 ? apply(Op::And, p.b, apply(Op::Not, p.b)) : p.b;
    return apply(Op::Or, p.a, kept);
  }
  DType work = graph::opmath(p.type);
  Term b = f.converted(p.b, work);
  return cast(apply(op, convert(p.a, work), b * Term(alpha)), p.type);
}

Result<Value> add(Call& call) {
  Formula f(call);
  return f.result(scaled_sum(f, operands(f), false));
}

Result<Value> subtract(Formula& f, const Pair& p) {
  bool bool_a = p.a.value.is_tensor() && f.dtype(p.a) == DType::Bool;
  bool bool_b = p.b.value.is_tensor() && f.dtype(p.b) == DType::Bool;
  if (!f.failed() && (bool_a || bool_b)) {
    return bool_a && bool_b
               ? input_error(
                     "Subtraction, the `-` operator, with two bool tensors is not "
                     "supported. Use the `^` or `logical_xor()` operator instead.")
               : input_error(
                     "Subtraction, the `-` operator, with a bool tensor is not supported. "
                     "If you are trying to invert a mask, use the `~` or `logical_not()` "
                     "operator instead.");
  }
  return f.result(scaled_sum(f, p, true));
}

Result<Value> sub(Call& call) {
  Formula f(call);
  return subtract(f, operands(f));
}

Result<Value> rsub(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  std::swap(p.a, p.b);
  return subtract(f, p);
}

Result<Value> mul(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  return f.result(apply(p.type == DType::Bool ? Op::And : Op::Mul, p.a, p.b));
}

Term true_divide(Formula& f, const Pair& p) {
  if (f.failed() || !is_integral(p.type)) return apply(Op::Div, p.a, p.b);
  return apply(Op::Div, convert(p.a, DType::Fp32), convert(p.b, DType::Fp32));
}

// No graph operator truncates integers. After the remainder is subtracted, the division is exact.
Term truncated_divide(Formula& f, const Pair& p) {
  if (f.failed()) return p.a;
  if (is_integral(p.type)) {
    return apply(Op::FloorDiv, apply(Op::Sub, p.a, apply(Op::Fmod, p.a, p.b)), p.b);
  }
  DType work = graph::opmath(p.type);
  return cast(trunc(apply(Op::Div, convert(p.a, work), convert(p.b, work))), p.type);
}

Result<Value> div(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (!call.given("rounding_mode")) return f.result(true_divide(f, p));
  std::string mode = KW_TRY(call.text("rounding_mode"));
  if (mode == "floor") return f.result(apply(Op::FloorDiv, p.a, p.b));
  if (mode == "trunc") return f.result(truncated_divide(f, p));
  return input_error(
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'", mode);
}

Result<Value> true_div(Call& call) {
  Formula f(call);
  return f.result(true_divide(f, operands(f)));
}

Result<Value> rdiv(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  std::swap(p.a, p.b);
  return f.result(true_divide(f, p));
}

// Exponents that PyTorch's kernels compute as products and roots: edge cases differ from pow's.
std::optional<Term> special_power(const Pair& p) {
  if (p.b.value.is_tensor() || !p.b.value.is(p.b.value.number) || !tensor::is_float(p.type)) {
    return std::nullopt;
  }
  Term x = wide(p.a);
  double e = p.b.value.number;
  if (e == 2) return cast(x * x, p.type);
  if (e == 3) return cast(x * x * x, p.type);
  if (e == 0.5) return cast(sqrt(x), p.type);
  if (e == -0.5) return cast(rsqrt(x), p.type);
  if (e == -1) return cast(apply(Op::Reciprocal, x), p.type);
  if (e == -2) return cast(apply(Op::Reciprocal, x * x), p.type);
  return std::nullopt;
}

Result<Value> power(Formula& f, const Pair& p) {
  if (f.failed()) return f.result(p.a);
  if (!p.b.value.is_tensor() && is_integral(p.type) && p.b.value.number < 0) {
    return input_error("Integers to negative integer powers are not allowed.");
  }
  if (p.type == DType::Bool) return f.result(apply(Op::Or, p.a, ~f.converted(p.b, p.type)));
  if (auto special = special_power(p)) return f.result(*special);
  return f.result(apply(Op::Pow, p.a, p.b));
}

Result<Value> pow_row(Call& call) {
  Formula f(call);
  Term a = f.operand("input");
  Term b = f.operand("exponent");
  if (f.failed()) return f.result(a);
  DType type = f.type_of({a, b});
  if (!a.value.is_tensor() && !b.value.is_tensor()) {
    return input_error("pow() received two numbers: at least one argument must be a Tensor");
  }
  if (a.value.is_tensor() && !b.value.is_tensor()) a = cast(a, type);
  return power(f, {a, b, type});
}

Result<Value> float_power(Call& call) {
  Formula f(call);
  Term a = f.operand("input");
  Term b = f.operand("exponent");
  if (f.failed()) return f.result(a);
  if (!a.value.is_tensor() && !b.value.is_tensor()) {
    return input_error("float_power() received two numbers: one argument must be a Tensor");
  }
  return power(f, {convert(a, DType::Fp64), convert(b, DType::Fp64), DType::Fp64});
}

Term truth_value(Formula& f, const Term& x) {
  if (f.failed() || f.dtype(x) == DType::Bool) return x;
  return x != 0;
}

template <Op op>
Result<Value> logical(Call& call) {
  Formula f(call);
  Pair p = operands(f);
  if (f.failed()) return f.result(p.a);
  auto as_bool = [&](const Term& x) {
    if (x.value.is_tensor()) return truth_value(f, x);
    if (!x.value.text.empty()) return truth_value(f, f.converted(x, DType::Fp32));
    return Term(Operand::of_bool(x.value.number != 0));
  };
  return f.result(apply(op, as_bool(p.a), as_bool(p.b)));
}

Result<Value> where_row(Call& call) {
  if (!call.given("input") && !call.given("other")) {
    return input_error(
        "torch.where(condition) has a shape that depends on values; use "
        "torch.where(condition, input, other)");
  }
  Formula f(call);
  Term condition = f.tensor("condition");
  if (!f.failed() && f.dtype(condition) == DType::Uint8) condition = condition != 0;
  if (!f.failed() && f.dtype(condition) != DType::Bool) {
    return input_error(
        "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        graph::torch_name(f.dtype(condition)));
  }
  return f.result(where(condition, f.operand("input"), f.operand("other")));
}

// x.where(condition, other): the tensor itself is the first argument.
Result<Value> where_method(Call& call) {
  Formula f(call);
  Term x = f.tensor("self");
  Term condition = f.tensor("condition");
  return f.result(where(condition, x, f.operand("other")));
}

Result<Value> clamp_with(Call& call, std::string_view low, std::string_view high) {
  Formula f(call);
  Term x = f.tensor("input");
  if (!call.given(low) && !call.given(high)) {
    return input_error("{}: At least one of 'min' or 'max' must not be None", call.function());
  }
  if (call.given(low)) x = maximum(x, f.operand(low));
  if (call.given(high)) x = minimum(x, f.operand(high));
  if (!f.failed() && f.dtype(x) == DType::Bool) return not_implemented(call, DType::Bool);
  return f.result(x);
}

// Fmax and Fmin ignore a NaN if the other operand is a number; Maximum and Minimum return NaN.
template <Op op>
Result<Value> extremum_of_two(Call& call) {
  return binary<op>(call);
}

constexpr char kTwo[] = "input, other";

constexpr OpRow kArithmeticRows[] = {
    {"torch.add Tensor.add", "input, other, *, alpha=1", add},
    {"torch.sub Tensor.sub torch.subtract Tensor.subtract", "input, other, *, alpha=1", sub},
    {"torch.rsub", "input, other, *, alpha=1", rsub},
    {"operator.add", "input, other, *, alpha=1", add},
    {"operator.sub", "input, other, *, alpha=1", sub},
    {"torch.mul Tensor.mul torch.multiply Tensor.multiply operator.mul", kTwo, mul},
    {"torch.div Tensor.div torch.divide Tensor.divide", "input, other, *, rounding_mode=None", div},
    {"torch.true_divide Tensor.true_divide operator.truediv", kTwo, true_div},
    {"Tensor.__rdiv__", kTwo, rdiv},
    {"torch.floor_divide Tensor.floor_divide operator.floordiv", kTwo, binary<Op::FloorDiv>},
    {"torch.remainder Tensor.remainder operator.mod", kTwo, binary<Op::Remainder>},
    {"torch.fmod Tensor.fmod", kTwo, binary<Op::Fmod>},
    {"torch.pow Tensor.pow operator.pow", "input, exponent", pow_row},
    {"torch.float_power Tensor.float_power", "input, exponent", float_power},
    {"torch.atan2 Tensor.atan2 torch.arctan2 Tensor.arctan2", kTwo, float_binary<Op::Atan2>},
    {"torch.copysign Tensor.copysign", kTwo, float_binary<Op::Copysign>},
    {"torch.hypot Tensor.hypot", kTwo, hypot},
    {"torch.maximum Tensor.maximum", kTwo, extremum_of_two<Op::Maximum>},
    {"torch.minimum Tensor.minimum", kTwo, extremum_of_two<Op::Minimum>},
    {"torch.fmax Tensor.fmax", kTwo, extremum_of_two<Op::Fmax>},
    {"torch.fmin Tensor.fmin", kTwo, extremum_of_two<Op::Fmin>},
    {"torch.eq Tensor.eq operator.eq", kTwo, binary<Op::Eq>},
    {"torch.ne Tensor.ne torch.not_equal Tensor.not_equal operator.ne", kTwo, binary<Op::Ne>},
    {"torch.lt Tensor.lt torch.less Tensor.less operator.lt", kTwo, binary<Op::Lt>},
    {"torch.le Tensor.le torch.less_equal Tensor.less_equal operator.le", kTwo, binary<Op::Le>},
    {"torch.gt Tensor.gt torch.greater Tensor.greater operator.gt", kTwo, binary<Op::Gt>},
    {"torch.ge Tensor.ge torch.greater_equal Tensor.greater_equal operator.ge", kTwo,
     binary<Op::Ge>},
    {"torch.bitwise_and Tensor.bitwise_and operator.and_ operator.and", kTwo,
     integer_binary<Op::And>},
    {"torch.bitwise_or Tensor.bitwise_or operator.or_ operator.or", kTwo, integer_binary<Op::Or>},
    {"torch.bitwise_xor Tensor.bitwise_xor operator.xor", kTwo, integer_binary<Op::Xor>},
    {"torch.bitwise_left_shift Tensor.bitwise_left_shift operator.lshift", kTwo,
     shift<Op::ShiftLeft>},
    {"torch.bitwise_right_shift Tensor.bitwise_right_shift operator.rshift", kTwo,
     shift<Op::ShiftRight>},
    {"torch.logical_and Tensor.logical_and", kTwo, logical<Op::And>},
    {"torch.logical_or Tensor.logical_or", kTwo, logical<Op::Or>},
    {"torch.logical_xor Tensor.logical_xor", kTwo, logical<Op::Xor>},
    {"torch.where", "condition, input=None, other=None", where_row},
    {"Tensor.where", "self, condition, other", where_method},
    {"torch.clamp Tensor.clamp torch.clip Tensor.clip", "input, min=None, max=None",
     [](Call& call) { return clamp_with(call, "min", "max"); }},
    {"torch.clamp_min Tensor.clamp_min", "input, min",
     [](Call& call) { return clamp_with(call, "min", "min_only"); }},
    {"torch.clamp_max Tensor.clamp_max", "input, max",
     [](Call& call) { return clamp_with(call, "max_only", "max"); }},
};

}  // namespace

std::span<const OpRow> arithmetic_rows() { return kArithmeticRows; }

}  // namespace kw::frontend
