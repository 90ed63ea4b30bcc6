#include "text/math.h"

#include <fmt/core.h>

#include "core/check.h"
#include "core/text.h"
#include "text/helpers.h"
#include "text/types.h"

namespace kw::generate {

namespace {

/// The text of one op. {0}, {1} … are operands; a pattern that starts with '=' needs parentheses as
/// an operand.
struct MathRow {
  Op op;
  // float, double, integers; nullptr: not available
  const char *real = nullptr, *wide = nullptr, *integer = nullptr;
};

constexpr MathRow kMathRows[] = {
#define KW_POINTWISE(op, name, inputs, ...) {Op::op, __VA_ARGS__},
#define CUDA(...) __VA_ARGS__
#include "ops/table.def"
};

const MathRow& row_of(Op op) {
  KW_CHECK(graph::between(op, Op::Cast, Op::Where), "not a pointwise op");
  return kMathRows[static_cast<size_t>(op) - static_cast<size_t>(Op::Cast)];
}

std::string cast_to(const char* type, const Expr& x) {
  return fmt::format("static_cast<{}>({})", type, x.text);
}

// Numbers become bool by a comparison. Floats become narrow integers through the widest one, which
// holds every value that a test may check.
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
  const std::string_view all = pattern;
  const std::string called(all.substr(0, all.find_first_of("({")));
  if (is_helper(called)) functions.insert(called);
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

}  // namespace kw::generate
