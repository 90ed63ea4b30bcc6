// The problem: a plan has only integers, but host code computes grids with floating-point too, as
// in ceil(n / 256.0). The choice: a quotient of integers stays an exact ratio until ceil, floor or
// a cast makes it an integer again. Bit operations become arithmetic if their operand is a constant
// of the right form. The alternative, evaluating in double, would need the shape. The cost: any
// other floating-point arithmetic on the shape is an Unknown value.
#include "cuda_import/host_value.h"

#include <array>
#include <cmath>

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

struct OpName {
  const char* text;
  TermOp op;
};
constexpr std::array kArithmetic = {
    OpName{"+", TermOp::Add},           OpName{"-", TermOp::Subtract},
    OpName{"*", TermOp::Multiply},      OpName{"/", TermOp::Divide},
    OpName{"%", TermOp::Remainder},     OpName{"<", TermOp::Less},
    OpName{"<=", TermOp::LessEqual},    OpName{">", TermOp::Greater},
    OpName{">=", TermOp::GreaterEqual}, OpName{"==", TermOp::Equal},
    OpName{"!=", TermOp::NotEqual},     OpName{"&&", TermOp::And},
    OpName{"||", TermOp::Or},
};
constexpr int64_t kMostShift = 62;

std::optional<int64_t> power_of_two(const TermRef& exponent) {
  const auto by = exponent->constant();
  if (!by || *by < 0 || *by > kMostShift) return std::nullopt;
  return int64_t{1} << *by;
}

std::optional<int64_t> fold_bits(const std::string& op, int64_t a, int64_t b) {
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  return std::nullopt;
}

HostValue combine_integers(const std::string& op, const TermRef& a, const TermRef& b,
                           const cuda_source::Token& where) {
  for (const OpName& row : kArithmetic) {
    if (op == row.text) return integer_value(make_term(row.op, {a, b}));
  }
  if (op == "<<" || op == ">>") {
    const auto factor = power_of_two(b);
    if (factor)
      return integer_value(
          make_term(op == "<<" ? TermOp::Multiply : TermOp::Divide, {a, number(*factor)}));
    return unknown_value("a shift by a number that depends on the shape", where);
  }
  if (a->constant() && b->constant()) {
    if (const auto value = fold_bits(op, *a->constant(), *b->constant()))
      return integer_value(number(*value));
  }
  // n & 31 is n % 32.
  if (const auto mask = b->constant();
      op == "&" && mask && *mask >= 0 && (*mask & (*mask + 1)) == 0)
    return integer_value(make_term(TermOp::Remainder, {a, number(*mask + 1)}));
  return unknown_value("'" + op + "' of numbers that depend on the shape", where);
}

std::optional<double> real_of(const HostValue& value) {
  if (value.is(Kind::Real)) return value.real;
  if (value.is(Kind::Integer) && value.term->constant())
    return static_cast<double>(*value.term->constant());
  if (value.is(Kind::Ratio) && value.term->constant() && value.denominator->constant() &&
      *value.denominator->constant() != 0)
    return static_cast<double>(*value.term->constant()) /
           static_cast<double>(*value.denominator->constant());
  return std::nullopt;
}

HostValue real_value(double value) {
  HostValue out;
  out.kind = Kind::Real;
  out.real = value;
  return out;
}

HostValue ratio(TermRef numerator, TermRef denominator) {
  HostValue out;
  out.kind = Kind::Ratio;
  out.term = std::move(numerator);
  out.denominator = std::move(denominator);
  return out;
}

/// The value as a ratio of integers, if it is exactly one.
std::optional<HostValue> as_ratio(const HostValue& value) {
  if (value.is(Kind::Ratio)) return value;
  if (value.is(Kind::Integer)) return ratio(value.term, number(1));
  if (value.is(Kind::Real) && std::floor(value.real) == value.real &&
      std::fabs(value.real) < 0x1p53)
    return ratio(number(static_cast<int64_t>(value.real)), number(1));
  return std::nullopt;
}

HostValue combine_reals(const std::string& op, double a, double b,
                        const cuda_source::Token& where) {
  if (op == "+") return real_value(a + b);
  if (op == "-") return real_value(a - b);
  if (op == "*") return real_value(a * b);
  if (op == "/") return real_value(a / b);
  if (op == "<") return integer_value(number(a < b));
  if (op == ">") return integer_value(number(a > b));
  if (op == "<=") return integer_value(number(a <= b));
  if (op == ">=") return integer_value(number(a >= b));
  if (op == "==") return integer_value(number(a == b));
  if (op == "!=") return integer_value(number(a != b));
  return unknown_value("'" + op + "' of floating-point numbers", where);
}

HostValue combine_ratios(const std::string& op, const HostValue& a, const HostValue& b,
                         const cuda_source::Token& where) {
  const auto times = [](const TermRef& x, const TermRef& y) {
    return make_term(TermOp::Multiply, {x, y});
  };
  const TermRef &p = a.term, &q = a.denominator, &r = b.term, &s = b.denominator;
  if (op == "*") return ratio(times(p, r), times(q, s));
  if (op == "/") return ratio(times(p, s), times(q, r));
  if (op == "+") return ratio(make_term(TermOp::Add, {times(p, s), times(r, q)}), times(q, s));
  if (op == "-") return ratio(make_term(TermOp::Subtract, {times(p, s), times(r, q)}), times(q, s));
  return unknown_value("floating-point arithmetic with numbers that depend on the shape", where);
}

}  // namespace

HostValue integer_value(TermRef term) {
  HostValue out;
  out.kind = Kind::Integer;
  out.term = std::move(term);
  return out;
}

HostValue unknown_value(std::string why, const cuda_source::Token& where) {
  HostValue out;
  out.kind = Kind::Unknown;
  out.text = std::move(why);
  out.line = where.line;
  out.column = where.column;
  return out;
}

HostValue combine(const std::string& op, const HostValue& a, const HostValue& b,
                  const cuda_source::Token& where) {
  if (a.is(Kind::Unknown)) return a;
  if (b.is(Kind::Unknown)) return b;
  if (a.is(Kind::Integer) && b.is(Kind::Integer)) {
    HostValue out = combine_integers(op, a.term, b.term, where);
    if (out.is(Kind::Integer) && out.term->size > kMaxTermSize)
      return unknown_value("an expression that grows too long for a plan", where);
    return out;
  }
  const bool equality = op == "==" || op == "!=";
  if (equality && a.is(Kind::Status) && b.is(Kind::Status))
    return integer_value(number(op == "=="));
  if (equality && a.is(Kind::Pointer) && b.is(Kind::Pointer))
    return integer_value(number((a.text == b.text) == (op == "==")));
  if ((op == "&&" || op == "||")) {
    const TermRef left = condition_of(a), right = condition_of(b);
    if (left && right) return combine_integers(op, left, right, where);
  }
  if (a.is(Kind::Pointer) || b.is(Kind::Pointer))
    return unknown_value("a pointer into the middle of a buffer", where);
  const auto x = real_of(a), y = real_of(b);
  if (x && y) return combine_reals(op, *x, *y, where);
  const auto p = as_ratio(a), q = as_ratio(b);
  if (p && q) return combine_ratios(op, *p, *q, where);
  if (a.is(Kind::Scalar) || b.is(Kind::Scalar))
    return unknown_value("floating-point arithmetic on the host", where);
  return unknown_value("'" + op + "' of things that are not numbers here", where);
}

TermRef condition_of(const HostValue& value) {
  if (value.is(Kind::Integer)) return value.term;
  if (value.is(Kind::Status)) return number(0);  // cudaSuccess
  if (value.is(Kind::Pointer)) return number(!value.text.empty());
  if (value.is(Kind::Real)) return number(value.real != 0);
  return nullptr;
}

HostValue rounded(const HostValue& value, bool up, const cuda_source::Token& where) {
  if (value.is(Kind::Integer)) return value;
  if (value.is(Kind::Real)) return real_value(up ? std::ceil(value.real) : std::floor(value.real));
  if (value.is(Kind::Ratio))
    return integer_value(
        make_term(up ? TermOp::CeilDiv : TermOp::Divide, {value.term, value.denominator}));
  if (value.is(Kind::Unknown)) return value;
  return unknown_value("rounding of something that is not a number here", where);
}

HostValue converted(const HostValue& value, const CType& type, const cuda_source::Token& where) {
  if (type.pointers > 0 || !type.dtype) return value;
  const bool floating = tensor::is_float(*type.dtype);
  if (floating) {
    if (value.is(Kind::Integer)) return ratio(value.term, number(1));
    return value;
  }
  if (value.is(Kind::Ratio))
    return integer_value(make_term(TermOp::Divide, {value.term, value.denominator}));
  if (value.is(Kind::Real)) {
    if (std::fabs(value.real) >= 0x1p62 || std::isnan(value.real))
      return unknown_value("a number that does not fit an integer", where);
    return integer_value(number(static_cast<int64_t>(value.real)));
  }
  if (value.is(Kind::Status)) return integer_value(number(0));
  return value;
}

}  // namespace kw::cuda_import
