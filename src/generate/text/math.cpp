#include "text/math.h"

#include <fmt/core.h>

#include <map>

#include "core/check.h"
#include "core/text.h"
#include "text/types.h"

namespace kw::generate {

using graph::Op;
using tensor::DType;

namespace {

/// How one op is written. {0}, {1} … are operands; a pattern that begins with '=' is no atom.
struct MathRow {
  Op op;
  const char *real, *wide, *integer;  // float, double, integers; nullptr: there is none
  const char* helpers;                // helper functions, separated by blanks
};

constexpr MathRow kMathRows[] = {
    {Op::Neg, "=-{0}", "=-{0}", "=-{0}", ""},
    {Op::Abs, "fabsf({0})", "fabs({0})", "({0} < 0 ? -{0} : {0})", ""},
    {Op::Sign, "sign_of({0})", "sign_of({0})", "sign_of({0})", "sign_of"},
    {Op::Floor, "floorf({0})", "floor({0})", "{0}", ""},
    {Op::Ceil, "ceilf({0})", "ceil({0})", "{0}", ""},
    {Op::Trunc, "truncf({0})", "trunc({0})", "{0}", ""},
    {Op::Round, "rintf({0})", "rint({0})", "{0}", ""},
    {Op::Sqrt, "sqrtf({0})", "sqrt({0})", nullptr, ""},
    {Op::Rsqrt, "rsqrtf({0})", "rsqrt({0})", nullptr, ""},
    {Op::Reciprocal, "=1.0f / {0}", "=1.0 / {0}", nullptr, ""},
    {Op::Exp, "expf({0})", "exp({0})", nullptr, ""},
    {Op::Exp2, "exp2f({0})", "exp2({0})", nullptr, ""},
    {Op::Expm1, "expm1f({0})", "expm1({0})", nullptr, ""},
    {Op::Log, "logf({0})", "log({0})", nullptr, ""},
    {Op::Log2, "log2f({0})", "log2({0})", nullptr, ""},
    {Op::Log10, "log10f({0})", "log10({0})", nullptr, ""},
    {Op::Log1p, "log1pf({0})", "log1p({0})", nullptr, ""},
    {Op::Sin, "sinf({0})", "sin({0})", nullptr, ""},
    {Op::Cos, "cosf({0})", "cos({0})", nullptr, ""},
    {Op::Tan, "tanf({0})", "tan({0})", nullptr, ""},
    {Op::Asin, "asinf({0})", "asin({0})", nullptr, ""},
    {Op::Acos, "acosf({0})", "acos({0})", nullptr, ""},
    {Op::Atan, "atanf({0})", "atan({0})", nullptr, ""},
    {Op::Sinh, "sinhf({0})", "sinh({0})", nullptr, ""},
    {Op::Cosh, "coshf({0})", "cosh({0})", nullptr, ""},
    {Op::Tanh, "tanhf({0})", "tanh({0})", nullptr, ""},
    {Op::Asinh, "asinhf({0})", "asinh({0})", nullptr, ""},
    {Op::Acosh, "acoshf({0})", "acosh({0})", nullptr, ""},
    {Op::Atanh, "atanhf({0})", "atanh({0})", nullptr, ""},
    {Op::Erf, "erff({0})", "erf({0})", nullptr, ""},
    {Op::Erfc, "erfcf({0})", "erfc({0})", nullptr, ""},
    {Op::Erfinv, "erfinvf({0})", "erfinv({0})", nullptr, ""},
    {Op::Lgamma, "lgammaf({0})", "lgamma({0})", nullptr, ""},
    {Op::Digamma, "digamma({0})", "digamma({0})", nullptr, "digamma"},
    {Op::Sigmoid, "=1.0f / (1.0f + expf(-{0}))", "=1.0 / (1.0 + exp(-{0}))", nullptr, ""},
    {Op::Not, nullptr, nullptr, "=~{0}", ""},
    {Op::IsNan, "=isnan({0}) != 0", "=isnan({0}) != 0", "false", ""},
    {Op::IsInf, "=isinf({0}) != 0", "=isinf({0}) != 0", "false", ""},
    {Op::Add, "={0} + {1}", "={0} + {1}", "={0} + {1}", ""},
    {Op::Sub, "={0} - {1}", "={0} - {1}", "={0} - {1}", ""},
    {Op::Mul, "={0} * {1}", "={0} * {1}", "={0} * {1}", ""},
    {Op::Div, "={0} / {1}", "={0} / {1}", "={0} / {1}", ""},
    {Op::Pow, "powf({0}, {1})", "pow({0}, {1})", "integer_power({0}, {1})", ""},
    {Op::Atan2, "atan2f({0}, {1})", "atan2({0}, {1})", nullptr, ""},
    {Op::Fmod, "fmodf({0}, {1})", "fmod({0}, {1})", "={0} % {1}", ""},
    {Op::Remainder, "floor_remainder({0}, {1})", "floor_remainder({0}, {1})",
     "floor_remainder({0}, {1})", "floor_remainder"},
    {Op::FloorDiv, "floor_quotient({0}, {1})", "floor_quotient({0}, {1})",
     "floor_quotient({0}, {1})", "floor_quotient"},
    {Op::Copysign, "copysignf({0}, {1})", "copysign({0}, {1})", nullptr, ""},
    {Op::Hypot, "hypotf({0}, {1})", "hypot({0}, {1})", nullptr, ""},
    {Op::Maximum, "max_nan({0}, {1})", "max_nan({0}, {1})", "max_of({0}, {1})", ""},
    {Op::Minimum, "min_nan({0}, {1})", "min_nan({0}, {1})", "min_of({0}, {1})", ""},
    {Op::Fmax, "fmaxf({0}, {1})", "fmax({0}, {1})", "max_of({0}, {1})", ""},
    {Op::Fmin, "fminf({0}, {1})", "fmin({0}, {1})", "min_of({0}, {1})", ""},
    {Op::Eq, "={0} == {1}", "={0} == {1}", "={0} == {1}", ""},
    {Op::Ne, "={0} != {1}", "={0} != {1}", "={0} != {1}", ""},
    {Op::Lt, "={0} < {1}", "={0} < {1}", "={0} < {1}", ""},
    {Op::Le, "={0} <= {1}", "={0} <= {1}", "={0} <= {1}", ""},
    {Op::Gt, "={0} > {1}", "={0} > {1}", "={0} > {1}", ""},
    {Op::Ge, "={0} >= {1}", "={0} >= {1}", "={0} >= {1}", ""},
    {Op::And, nullptr, nullptr, "={0} & {1}", ""},
    {Op::Or, nullptr, nullptr, "={0} | {1}", ""},
    {Op::Xor, nullptr, nullptr, "={0} ^ {1}", ""},
    {Op::ShiftLeft, nullptr, nullptr, "shifted_left({0}, {1})", "shifted_left"},
    {Op::ShiftRight, nullptr, nullptr, "shifted_right({0}, {1})", "shifted_right"},
    {Op::Where, "={0} ? {1} : {2}", "={0} ? {1} : {2}", "={0} ? {1} : {2}", ""},
};

/// Names of helpers are recognised where a pattern calls them.
constexpr const char* kCalled[] = {"max_nan", "min_nan", "max_of", "min_of", "integer_power"};

const MathRow& row_of(Op op) {
  static const std::map<Op, const MathRow*> rows = [] {
    std::map<Op, const MathRow*> all;
    for (const MathRow& row : kMathRows) all[row.op] = &row;
    return all;
  }();
  const auto found = rows.find(op);
  KW_CHECK(found != rows.end(), "not a pointwise op");
  return *found->second;
}

std::string cast_to(const char* type, const Expr& x) {
  return fmt::format("static_cast<{}>({})", type, x.text);
}

// Numbers to bool by comparing; floats to narrow integers through the widest, where every value
// that a test may look at fits.
Expr cast_text(DType from, DType to, const Expr& x) {
  const std::string_view before = register_type(from), after = register_type(to);
  if (before == after) return x;
  if (to == DType::Bool) {
    const char* zero = from == DType::Fp64 ? "0.0" : is_floating(from) ? "0.0f" : "0";
    return {x.operand() + " != " + zero, false};
  }
  if (is_floating(from) && is_integer(to) && tensor::dtype_size(to) < 8) {
    return {cast_to(after.data(), {cast_to("long long", x)})};
  }
  return {cast_to(after.data(), x)};
}

}  // namespace

Expr pointwise_text(Op op, DType from, DType to, const std::vector<Expr>& operands,
                    std::set<std::string>& functions) {
  if (op == Op::Cast) return cast_text(from, to, operands[0]);
  if (op == Op::Not && from == DType::Bool) return {"!" + operands[0].operand(), false};
  const MathRow& row = row_of(op);
  const bool real = in_float(op == Op::Where ? to : from);
  const bool wide = (op == Op::Where ? to : from) == DType::Fp64;
  const char* pattern = real ? row.real : wide ? row.wide : row.integer;
  KW_CHECK(pattern != nullptr,
           fmt::format("{} of {}", graph::op_info(op).name, tensor::dtype_name(from)));
  for (const std::string& name : split(row.helpers, ' ')) {
    if (!name.empty()) functions.insert(name);
  }
  for (const char* name : kCalled) {
    if (std::string_view(pattern).starts_with(name)) functions.insert(name);
  }
  const bool atom = *pattern != '=';
  std::string text = atom ? pattern : pattern + 1;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string hole = fmt::format("{{{}}}", i);
    const bool inside_call = atom && text.find("(" + hole) == std::string::npos &&
                             text.find(", " + hole) == std::string::npos;
    const bool bare = atom && !inside_call && *pattern != '(';
    text = replace_all(text, hole, bare ? operands[i].text : operands[i].operand());
  }
  const bool compares = to == DType::Bool;
  const bool narrow = is_integer(to) && tensor::dtype_size(to) < 4;
  if (!compares && narrow) return {fmt::format("static_cast<{}>({})", register_type(to), text)};
  return {text, atom};
}

bool is_costly(Op op) {
  switch (op) {
    case Op::Sqrt:
    case Op::Rsqrt:
    case Op::Reciprocal:
    case Op::Exp:
    case Op::Exp2:
    case Op::Expm1:
    case Op::Log:
    case Op::Log2:
    case Op::Log10:
    case Op::Log1p:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Erf:
    case Op::Erfc:
    case Op::Erfinv:
    case Op::Lgamma:
    case Op::Digamma:
    case Op::Sigmoid:
    case Op::Pow:
    case Op::Atan2:
    case Op::Fmod:
    case Op::Remainder:
    case Op::FloorDiv:
    case Op::Hypot:
    case Op::Div:
    case Op::Philox:
      return true;
    default:
      return false;
  }
}

}  // namespace kw::generate
