#include "graph/op.h"

#include <array>

namespace kw::graph {

namespace {

constexpr bool kExact = true, kRounds = false;
constexpr bool kJumps = true, kSmooth = false;

constexpr OpInfo source(const char* name, int inputs) {
  return {name, OpKind::Source, inputs, kExact, kSmooth, 0};
}
constexpr OpInfo pointwise(const char* name, int inputs, bool exact, bool jumps) {
  return {name, OpKind::Pointwise, inputs, exact, jumps, 1};
}
constexpr OpInfo function(const char* name) { return pointwise(name, 1, kRounds, kSmooth); }
constexpr OpInfo compare(const char* name) { return pointwise(name, 2, kExact, kJumps); }
constexpr OpInfo bits(const char* name) { return {name, OpKind::Pointwise, 2, kExact, kSmooth, 1}; }
constexpr OpInfo along(const char* name, OpKind kind, bool exact, bool jumps) {
  return {name, kind, 1, exact, jumps, 1};
}
constexpr OpInfo movement(const char* name, int inputs) {
  return {name, OpKind::Movement, inputs, kExact, kSmooth, 0};
}

constexpr std::array<OpInfo, kOps> kTable = {{
    source("input", 0),
    source("constant", 0),
    source("iota", 0),
    source("philox", 2),
    {"cast", OpKind::Pointwise, 1, kRounds, kSmooth, 0},
    pointwise("neg", 1, kExact, kSmooth),
    pointwise("abs", 1, kExact, kSmooth),
    pointwise("sign", 1, kExact, kJumps),
    pointwise("floor", 1, kExact, kJumps),
    pointwise("ceil", 1, kExact, kJumps),
    pointwise("trunc", 1, kExact, kJumps),
    pointwise("round", 1, kExact, kJumps),
    function("sqrt"),
    function("rsqrt"),
    function("reciprocal"),
    function("exp"),
    function("exp2"),
    function("expm1"),
    function("log"),
    function("log2"),
    function("log10"),
    function("log1p"),
    function("sin"),
    function("cos"),
    function("tan"),
    function("asin"),
    function("acos"),
    function("atan"),
    function("sinh"),
    function("cosh"),
    function("tanh"),
    function("asinh"),
    function("acosh"),
    function("atanh"),
    function("erf"),
    function("erfc"),
    function("erfinv"),
    function("lgamma"),
    function("digamma"),
    function("sigmoid"),
    pointwise("not", 1, kExact, kSmooth),
    pointwise("is_nan", 1, kExact, kSmooth),
    pointwise("is_inf", 1, kExact, kSmooth),
    pointwise("add", 2, kRounds, kSmooth),
    pointwise("sub", 2, kRounds, kSmooth),
    pointwise("mul", 2, kRounds, kSmooth),
    pointwise("div", 2, kRounds, kSmooth),
    pointwise("pow", 2, kRounds, kSmooth),
    pointwise("atan2", 2, kRounds, kJumps),  // at the negative x axis
    pointwise("fmod", 2, kExact, kJumps),    // its result is always representable
    pointwise("remainder", 2, kRounds, kJumps),
    pointwise("floor_div", 2, kRounds, kJumps),
    pointwise("copysign", 2, kExact, kJumps),
    pointwise("hypot", 2, kRounds, kSmooth),
    pointwise("maximum", 2, kExact, kSmooth),
    pointwise("minimum", 2, kExact, kSmooth),
    pointwise("fmax", 2, kExact, kSmooth),
    pointwise("fmin", 2, kExact, kSmooth),
    compare("eq"),
    compare("ne"),
    compare("lt"),
    compare("le"),
    compare("gt"),
    compare("ge"),
    bits("and"),
    bits("or"),
    bits("xor"),
    bits("shift_left"),
    bits("shift_right"),
    // The jump is the condition's, not the choice's.
    {"where", OpKind::Pointwise, 3, kExact, kSmooth, 1},
    along("sum", OpKind::Reduction, kRounds, kSmooth),
    along("prod", OpKind::Reduction, kRounds, kSmooth),
    along("max", OpKind::Reduction, kExact, kSmooth),
    along("min", OpKind::Reduction, kExact, kSmooth),
    along("arg_max", OpKind::Reduction, kExact, kJumps),
    along("arg_min", OpKind::Reduction, kExact, kJumps),
    along("cum_sum", OpKind::Scan, kRounds, kSmooth),
    along("cum_prod", OpKind::Scan, kRounds, kSmooth),
    along("cum_max", OpKind::Scan, kExact, kSmooth),
    along("cum_min", OpKind::Scan, kExact, kSmooth),
    along("cum_max_index", OpKind::Scan, kExact, kJumps),
    along("cum_min_index", OpKind::Scan, kExact, kJumps),
    along("cum_log_sum_exp", OpKind::Scan, kRounds, kSmooth),
    // Order statistics follow their inputs continuously; where they came from does not.
    along("sort_values", OpKind::Selection, kExact, kSmooth),
    along("sort_indices", OpKind::Selection, kExact, kJumps),
    along("top_k_values", OpKind::Selection, kExact, kSmooth),
    along("top_k_indices", OpKind::Selection, kExact, kJumps),
    {"mat_mul", OpKind::Contraction, 2, kRounds, kSmooth, 2},
    movement("reshape", 1),
    movement("permute", 1),
    movement("expand", 1),
    movement("slice", 1),
    movement("pad", 1),
    movement("flip", 1),
    movement("window", 1),
    {"fold", OpKind::Movement, 1, kRounds, kSmooth, 1},
    movement("concat", -1),
    movement("gather", 2),
    movement("index_select", 2),
    {"scatter", OpKind::Movement, 3, kRounds, kSmooth, 1},
}};

constexpr bool complete() {
  for (const OpInfo& row : kTable) {
    if (row.name == nullptr) return false;
  }
  return true;
}
static_assert(complete(), "one row per op");
static_assert(std::string_view(kTable[static_cast<size_t>(Op::Where)].name) == "where");
static_assert(std::string_view(kTable[static_cast<size_t>(Op::MatMul)].name) == "mat_mul");

}  // namespace

const OpInfo& op_info(Op op) { return kTable[static_cast<size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  for (int i = 0; i < kOps; ++i) {
    if (name == kTable[static_cast<size_t>(i)].name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

}  // namespace kw::graph
