// The problem: a plan has 64-bit integers only, and host code computes with C++'s types. The
// choice: every integer has its C++ type, and every result is brought into it (host_ranges); a
// constant is computed as C++ does it. Floating-point constants are rounded to their type. A number
// that depends on the shape may be a whole float within its exact range, or one quotient of two of
// these, which ceil, floor or a cast makes an integer again; so ceil(n / 256.0f) is exact. The
// alternative, evaluating in double, would need the shape. The cost: any other floating-point
// arithmetic on the shape is an Unknown value.
#include "cuda_import/host_value.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "cuda_import/host_ranges.h"
#include "cuda_import/host_state.h"

namespace kw::cuda_import {

namespace {

using Kind = HostValue::Kind;

struct OpName {
  const char* text;
  TermOp op;
};
constexpr std::array kArithmetic = {
    OpName{"+", TermOp::Add},    OpName{"-", TermOp::Subtract},  OpName{"*", TermOp::Multiply},
    OpName{"/", TermOp::Divide}, OpName{"%", TermOp::Remainder},
};
constexpr std::array kComparisons = {
    OpName{"<", TermOp::Less},    OpName{"<=", TermOp::LessEqual},
    OpName{">", TermOp::Greater}, OpName{">=", TermOp::GreaterEqual},
    OpName{"==", TermOp::Equal},  OpName{"!=", TermOp::NotEqual},
};
constexpr int64_t kMostShift = 62;

bool compares(const std::string& op) {
  for (const OpName& row : kComparisons) {
    if (op == row.text) return true;
  }
  return op == "&&" || op == "||";
}

/// The value of arithmetic in a type: constants wrap or overflow as in C++.
HostValue result_of(HostState& host, const TermRef& term, IntKind kind,
                    const cuda_source::Token& where) {
  const auto known = term->constant();
  if (!known) return fitted(host, term, kind, where);
  if (*known >= lowest(kind) && *known <= highest(kind)) return integer_value(term, kind);
  const auto value = is_unsigned(kind) ? wrapped(*known, kind) : std::nullopt;
  if (value) return integer_value(number(*value), kind);
  return unknown_value(fmt::format("{} does not fit '{}'", *known, kind_name(kind)), where);
}

HostValue to_integer(HostState& host, const HostValue& value, IntKind kind,
                     const cuda_source::Token& where) {
  HostValue out;
  const auto known = value.term->constant();
  if (kind == IntKind::Bool && !known) {
    const bool truth = value.term->is_truth() || value.integer == IntKind::Bool;
    out = truth_value(truth ? value.term : make_term(TermOp::NotEqual, {value.term, number(0)}));
  } else if (known) {
    const auto wraps = wrapped(*known, kind);
    out = wraps ? integer_value(number(*wraps), kind)
                : unknown_value("a number that does not fit 63 bits", where);
  } else {
    out = fitted(host, value.term, kind, where);
  }
  out.assumed = value.assumed;
  return out;
}

HostValue shifted(HostState& host, const std::string& op, const HostValue& a, const HostValue& b,
                  const cuda_source::Token& where) {
  const IntKind kind = promoted(a.integer);
  const auto by = b.term->constant();
  if (!by) return unknown_value("a shift by a number that depends on the shape", where);
  if (*by < 0 || *by >= bits_of(kind) || *by > kMostShift)
    return unknown_value("a shift by more than the bits of its type", where);
  const TermRef factor = number(int64_t{1} << *by);
  if (op == "<<")
    return result_of(host, make_term(TermOp::Multiply, {a.term, factor}), kind, where);
  if (const auto known = a.term->constant()) return integer_value(number(*known >> *by), kind);
  if (!nonnegative(host, a.term))
    return unknown_value("a shift to the right of a number that may be negative", where);
  return integer_value(make_term(TermOp::Divide, {a.term, factor}), kind);
}

/// & | ^ of two numbers of one type.
HostValue masked(HostState& host, const std::string& op, const TermRef& a, const TermRef& b,
                 IntKind kind, const cuda_source::Token& where) {
  const auto x = a->constant(), y = b->constant();
  if (x && y) {
    const int64_t value = op == "&" ? *x & *y : op == "|" ? *x | *y : *x ^ *y;
    return result_of(host, number(value), kind, where);
  }
  if (op == "&" && x) return masked(host, op, b, a, kind, where);
  if (op == "&" && y && nonnegative(host, a)) {
    // n & 31 is n % 32; n & ~31 is n / 32 * 32.
    if (*y >= 0 && *y < INT64_MAX && (*y & (*y + 1)) == 0)
      return integer_value(make_term(TermOp::Remainder, {a, number(*y + 1)}), kind);
    const auto most = bits_of(kind) == 32 && is_unsigned(kind) ? highest(kind) : int64_t{-1};
    const int64_t rest = most ^ *y;
    if (rest >= 0 && rest < INT64_MAX && (rest & (rest + 1)) == 0) {
      const TermRef step = number(rest + 1);
      return integer_value(
          make_term(TermOp::Multiply, {make_term(TermOp::Divide, {a, step}), step}), kind);
    }
  }
  return unknown_value("'" + op + "' of numbers that depend on the shape", where);
}

HostValue combine_integers(HostState& host, const std::string& op, const HostValue& left,
                           const HostValue& right, const cuda_source::Token& where) {
  if (op == "<<" || op == ">>") return shifted(host, op, left, right, where);
  const HostValue a = balanced(host, left, right, where), b = balanced(host, right, left, where);
  if (a.is(Kind::Unknown)) return a;
  if (b.is(Kind::Unknown)) return b;
  for (const OpName& row : kComparisons) {
    if (op == row.text) return truth_value(make_term(row.op, {a.term, b.term}));
  }
  for (const OpName& row : kArithmetic) {
    if (op != row.text) continue;
    const TermRef term = make_term(row.op, {a.term, b.term});
    if (a.term->constant() && b.term->constant() && !term->constant())
      return unknown_value("arithmetic without a result", where);
    return result_of(host, term, a.integer, where);
  }
  return masked(host, op, a.term, b.term, a.integer, where);
}

HostValue real_number(double value, int width) {
  HostValue out;
  out.kind = Kind::Real;
  out.real = width == 32 ? static_cast<double>(static_cast<float>(value)) : value;
  out.width = width;
  return out;
}

HostValue ratio(TermRef numerator, TermRef denominator, int width) {
  HostValue out;
  out.kind = Kind::Ratio;
  out.term = std::move(numerator);
  out.denominator = std::move(denominator);
  out.width = width;
  return out;
}

/// The largest number up to which a type holds every integer.
int64_t exact_up_to(int width) { return int64_t{1} << (width == 32 ? 24 : 53); }

/// A float or double of an integer that depends on the shape.
HostValue whole_number(HostState& host, const TermRef& term, int width,
                       const cuda_source::Token& where) {
  if (within(host, term, exact_up_to(width))) return ratio(term, number(1), width);
  return unknown_value("an integer that a float may not hold exactly", where);
}

HostValue real_of(const HostValue& value, int width) {
  if (value.is(Kind::Real)) return real_number(value.real, width);
  const int64_t known = *value.term->constant();
  return real_number(
      width == 32 ? static_cast<double>(static_cast<float>(known)) : static_cast<double>(known),
      width);
}

bool is_constant_number(const HostValue& value) {
  return value.is(Kind::Real) || (value.is(Kind::Integer) && value.term->constant());
}

/// The value as a whole number in floating point, if it is one.
HostValue as_whole(HostState& host, const HostValue& value, int width,
                   const cuda_source::Token& where) {
  if (value.is(Kind::Integer) && !value.term->constant())
    return whole_number(host, value.term, width, where);
  if (value.is(Kind::Ratio) && value.denominator->constant() == 1) return value;
  if (is_constant_number(value)) {
    const double real = real_of(value, width).real;
    if (std::floor(real) == real && std::fabs(real) <= static_cast<double>(exact_up_to(width)) &&
        !std::signbit(real))
      return ratio(number(static_cast<int64_t>(real)), number(1), width);
  }
  return unknown_value("floating-point arithmetic with numbers that depend on the shape", where);
}

HostValue combine_reals(const std::string& op, double a, double b, int width,
                        const cuda_source::Token& where) {
  if (op == "+") return real_number(a + b, width);
  if (op == "-") return real_number(a - b, width);
  if (op == "*") return real_number(a * b, width);
  if (op == "/") return real_number(a / b, width);
  if (op == "<") return truth_value(number(a < b));
  if (op == ">") return truth_value(number(a > b));
  if (op == "<=") return truth_value(number(a <= b));
  if (op == ">=") return truth_value(number(a >= b));
  if (op == "==") return truth_value(number(a == b));
  if (op == "!=") return truth_value(number(a != b));
  return unknown_value("'" + op + "' of floating-point numbers", where);
}

HostValue combine_wholes(HostState& host, const std::string& op, const HostValue& a,
                         const HostValue& b, int width, const cuda_source::Token& where) {
  if (a.is(Kind::Unknown)) return a;
  if (b.is(Kind::Unknown)) return b;
  const TermOp made = op == "+"   ? TermOp::Add
                      : op == "-" ? TermOp::Subtract
                      : op == "*" ? TermOp::Multiply
                                  : TermOp::Number;
  if (made != TermOp::Number)
    return whole_number(host, make_term(made, {a.term, b.term}), width, where);
  // With both below 2^24 (2^53), rounding a quotient never crosses an integer.
  if (op == "/" && nonnegative(host, a.term) && nonnegative(host, b.term))
    return ratio(a.term, b.term, width);
  return unknown_value("floating-point arithmetic with numbers that depend on the shape", where);
}

int width_of(const HostValue& a, const HostValue& b) {
  const auto width = [](const HostValue& value) {
    return value.is(Kind::Real) || value.is(Kind::Ratio) ? value.width : 0;
  };
  return std::max(width(a), width(b));
}

bool is_host_number(const HostValue& value) {
  return value.is(Kind::Integer) || value.is(Kind::Real) || value.is(Kind::Ratio);
}

HostValue combine_floats(HostState& host, const std::string& op, const HostValue& a,
                         const HostValue& b, const cuda_source::Token& where) {
  const int width = width_of(a, b);
  if (width < 32) return unknown_value("arithmetic with a half on the host", where);
  if (is_constant_number(a) && is_constant_number(b))
    return combine_reals(op, real_of(a, width).real, real_of(b, width).real, width, where);
  return combine_wholes(host, op, as_whole(host, a, width, where), as_whole(host, b, width, where),
                        width, where);
}

HostValue combine_pointers(const std::string& op, const HostValue& a, const HostValue& b,
                           const cuda_source::Token& where) {
  if (!a.items.empty() || !b.items.empty())
    return unknown_value("a comparison of pointers that change places", where);
  // A buffer is taken to be there, and apart from all others.
  const bool sure = a.text == b.text;
  return truth_value(number(sure == (op == "==")), !sure);
}

}  // namespace

HostValue integer_value(TermRef term, IntKind kind) {
  HostValue out;
  out.kind = Kind::Integer;
  out.term = std::move(term);
  out.integer = kind;
  return out;
}

HostValue truth_value(TermRef term, bool assumed) {
  HostValue out = integer_value(std::move(term), IntKind::Bool);
  out.assumed = assumed;
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

HostValue combine(HostState& host, const std::string& op, const HostValue& a, const HostValue& b,
                  const cuda_source::Token& where) {
  if (a.is(Kind::Unknown) || b.is(Kind::Unknown)) {
    HostValue out = a.is(Kind::Unknown) ? a : b;
    out.slot = HostValue::kNoSlot;
    return out;
  }
  const bool equality = op == "==" || op == "!=";
  if (op == "&&" || op == "||") {
    const TermRef left = condition_of(a), right = condition_of(b);
    if (left && right)
      return truth_value(make_term(op == "&&" ? TermOp::And : TermOp::Or, {left, right}),
                         is_assumed(a) || is_assumed(b));
  }
  if (!compares(op) && (is_assumed(a) || is_assumed(b)) && !a.is(Kind::Pointer) &&
      !b.is(Kind::Pointer))
    return unknown_value("a number made of the outcome of a call", where);
  if (a.is(Kind::Integer) && b.is(Kind::Integer)) {
    HostValue out = combine_integers(host, op, a, b, where);
    if (out.is(Kind::Integer) && out.term->size > kMaxTermSize)
      return unknown_value("an expression that grows too long for a plan", where);
    out.assumed = a.assumed || b.assumed;
    return out;
  }
  if (equality && a.is(Kind::Status) && b.is(Kind::Status))
    return truth_value(number(op == "=="), true);
  if (equality && a.is(Kind::Pointer) && b.is(Kind::Pointer))
    return combine_pointers(op, a, b, where);
  if (a.is(Kind::Pointer) || b.is(Kind::Pointer))
    return unknown_value("a pointer into the middle of a buffer", where);
  if (is_host_number(a) && is_host_number(b) && !a.assumed && !b.assumed)
    return combine_floats(host, op, a, b, where);
  if (a.is(Kind::Scalar) || b.is(Kind::Scalar))
    return unknown_value("floating-point arithmetic on the host", where);
  return unknown_value("'" + op + "' of things that are not numbers here", where);
}

HostValue opposite(HostState& host, const std::string& op, const HostValue& value,
                   const cuda_source::Token& where) {
  if (value.is(Kind::Real) && value.width >= 32 && op == "-")
    return real_number(-value.real, value.width);
  if (op == "-") return combine(host, "-", integer_value(number(0)), value, where);
  if (!value.is(Kind::Integer) || value.assumed) return unknown_value("'~' of no integer", where);
  const IntKind kind = promoted(value.integer);
  if (kind == IntKind::U64) return unknown_value("'~' of 64 bits without a sign", where);
  const int64_t from = kind == IntKind::U32 ? highest(kind) : -1;
  return result_of(host, make_term(TermOp::Subtract, {number(from), value.term}), kind, where);
}

TermRef condition_of(const HostValue& value) {
  if (value.is(Kind::Integer)) return value.term;
  if (value.is(Kind::Status)) return number(0);  // cudaSuccess
  if (value.is(Kind::Pointer)) return number(!value.text.empty());
  if (value.is(Kind::Real)) return number(value.real != 0);
  return nullptr;
}

bool is_assumed(const HostValue& value) {
  return value.assumed || value.is(Kind::Status) ||
         (value.is(Kind::Pointer) && !value.text.empty());
}

HostValue rounded(HostState& host, const HostValue& value, bool up,
                  const cuda_source::Token& where) {
  if (value.is(Kind::Unknown)) return value;
  if (value.is(Kind::Integer) && !value.assumed)
    return converted(host, value, CType{"double", tensor::DType::Fp64, 8}, where);
  if (value.is(Kind::Real) && value.width >= 32)
    return real_number(up ? std::ceil(value.real) : std::floor(value.real), value.width);
  if (value.is(Kind::Ratio))
    return ratio(make_term(up ? TermOp::CeilDiv : TermOp::Divide, {value.term, value.denominator}),
                 number(1), value.width);
  return unknown_value("rounding of something that is not a number here", where);
}

HostValue balanced(HostState& host, const HostValue& value, const HostValue& other,
                   const cuda_source::Token& where) {
  if (!value.is(Kind::Integer) || !other.is(Kind::Integer)) return value;
  return to_integer(host, value, common_kind(value.integer, other.integer), where);
}

namespace {

HostValue to_float(HostState& host, const HostValue& value, const CType& type,
                   const cuda_source::Token& where) {
  const int width = type.size * 8;
  if (value.is(Kind::Scalar)) {
    if (value.type.dtype == type.dtype) return value;
    return unknown_value("floating-point arithmetic on the host", where);
  }
  if (width >= 32) {
    if (is_constant_number(value)) return real_of(value, width);
    if (value.is(Kind::Integer)) return whole_number(host, value.term, width, where);
    if (value.denominator->constant() == 1) return whole_number(host, value.term, width, where);
    HostValue out = value;
    out.width = width;
    return out;
  }
  // A half type: the number itself, where it has few enough digits.
  if (!is_constant_number(value)) return unknown_value("a half of the shape", where);
  int exponent = 0;
  const double real = real_of(value, 64).real;
  const double digits = std::frexp(real, &exponent) * 64;
  if (digits != std::floor(digits) || exponent < -4 || exponent > 7)
    return unknown_value("a half that may have been rounded", where);
  return real_number(real, 16);
}

HostValue float_to_integer(HostState& host, const HostValue& value, IntKind kind,
                           const cuda_source::Token& where) {
  if (value.is(Kind::Ratio) && kind != IntKind::Bool)
    return to_integer(
        host,
        integer_value(make_term(TermOp::Divide, {value.term, value.denominator}), IntKind::I64),
        kind, where);
  if (value.is(Kind::Ratio)) return unknown_value("a float as a condition", where);
  if (kind == IntKind::Bool) return truth_value(number(value.real != 0));
  const double real = std::trunc(value.real);
  if (!(real >= static_cast<double>(lowest(kind)) && real <= static_cast<double>(highest(kind)) &&
        std::fabs(real) < 0x1p62))
    return unknown_value("a number that does not fit an integer", where);
  return integer_value(number(static_cast<int64_t>(real)), kind);
}

HostValue pointer_to_integer(const HostValue& value, IntKind kind,
                             const cuda_source::Token& where) {
  if (kind != IntKind::Bool) return unknown_value("the address of a buffer as a number", where);
  return truth_value(number(!value.text.empty()), !value.text.empty());
}

/// A type beside C++'s numbers: only values of its own come into it unchanged.
HostValue to_other(const HostState& host, const HostValue& value, const CType& type,
                   const cuda_source::Token& where) {
  const bool open =
      type.base.empty() || type.base == "auto" || host.source.enums.count(last_name(type.base)) > 0;
  if (open || !(is_host_number(value) || value.is(Kind::Scalar))) return value;
  if (type.base == "void") return {};
  return unknown_value(fmt::format("a number of type '{}'", type.base), where);
}

/// A pointer that says another type than its variable does not lead to the variable.
HostValue address_as(const HostState& host, HostValue value, const CType& type) {
  if (value.slot >= host.slots.size() || type.base == "auto") return value;
  const CType& own = host.slots[value.slot].type;
  const bool same = own.base == "auto" || own.base.empty()
                        ? value.text.empty() && type.base != "void"
                        : own.pointers + 1 == type.pointers &&
                              (own.base == type.base || (own.dtype && own.dtype == type.dtype));
  value.text = same ? "" : type.text();
  return value;
}

}  // namespace

HostValue converted(HostState& host, const HostValue& value, const CType& type,
                    const cuda_source::Token& where) {
  if (value.is(Kind::Unknown)) return value;
  if (type.pointers > 0) {
    if (value.is(Kind::Address)) return address_as(host, value, type);
    if (!value.is(Kind::Integer) || value.term->constant() != 0) return value;
    HostValue null;
    null.kind = Kind::Pointer;
    return null;
  }
  const auto kind = integer_kind(type);
  if (value.is(Kind::List) && value.items.size() == 1 && kind)
    return converted(host, value.items[0], type, where);
  const bool floating = type.dtype && !kind && tensor::is_float(*type.dtype) &&
                        tensor::dtype_size(*type.dtype) == type.size;
  if (value.is(Kind::Status) && kind) {
    HostValue out = integer_value(number(0), *kind);
    out.assumed = true;
    return out;
  }
  if (value.is(Kind::Pointer) && kind) return pointer_to_integer(value, *kind, where);
  if (value.is(Kind::Scalar) && kind)
    return unknown_value("floating-point arithmetic on the host", where);
  if (value.is(Kind::Integer) && kind) return to_integer(host, value, *kind, where);
  if (is_host_number(value) && kind) return float_to_integer(host, value, *kind, where);
  if (floating && (is_host_number(value) || value.is(Kind::Scalar))) {
    if (is_assumed(value)) return unknown_value("a number made of the outcome of a call", where);
    return to_float(host, value, type, where);
  }
  return to_other(host, value, type, where);
}

}  // namespace kw::cuda_import
