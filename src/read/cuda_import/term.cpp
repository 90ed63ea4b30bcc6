// The problem: grids and sizes of a launcher are functions of its parameters. The choice: immutable
// expression trees, folded when they are made and printed in the plan's grammar. Neutral operations
// such as x * 1 disappear; nothing else is simplified. The alternative, a general algebra system,
// might print expressions that users no longer recognise. The cost: equal expressions in different
// forms count as different; they are compared by text.
#include "cuda_import/term.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cuda_import/term_range.h"

namespace kw::cuda_import {

namespace {

struct OpRow {
  TermOp op;
  const char* text;
  int level;  // higher binds tighter; 0: a function
};

constexpr std::array kOps = {
    OpRow{TermOp::Or, "||", 1},       OpRow{TermOp::And, "&&", 2},
    OpRow{TermOp::Less, "<", 3},      OpRow{TermOp::LessEqual, "<=", 3},
    OpRow{TermOp::Greater, ">", 3},   OpRow{TermOp::GreaterEqual, ">=", 3},
    OpRow{TermOp::Equal, "==", 3},    OpRow{TermOp::NotEqual, "!=", 3},
    OpRow{TermOp::Add, "+", 4},       OpRow{TermOp::Subtract, "-", 4},
    OpRow{TermOp::Multiply, "*", 5},  OpRow{TermOp::Divide, "/", 5},
    OpRow{TermOp::Remainder, "%", 5}, OpRow{TermOp::Negate, "-", 6},
    OpRow{TermOp::Not, "!", 6},       OpRow{TermOp::CeilDiv, "ceil_div", 0},
    OpRow{TermOp::Min, "min", 0},     OpRow{TermOp::Max, "max", 0},
    OpRow{TermOp::Pick, "pick", 0},
};
constexpr int kComparison = 3;
constexpr int kPrimary = 7;
constexpr int64_t kMostBlocksPerSm = 1024;

const OpRow* row_of(TermOp op) {
  const auto at = std::ranges::find(kOps, op, &OpRow::op);
  return at == kOps.end() ? nullptr : &*at;
}

int level_of(const Term& term) {
  if (term.op == TermOp::Number && term.value < 0) return 6;
  const OpRow* row = row_of(term.op);
  return row == nullptr || row->level == 0 ? kPrimary : row->level;
}

std::string operand(const Term& term, int least) {
  return level_of(term) < least ? "(" + term.text() + ")" : term.text();
}

std::optional<int64_t> fold_arithmetic(TermOp op, int64_t a, int64_t b) {
  int64_t out = 0;
  const bool divides = b != 0 && !(b == -1 && a == INT64_MIN);
  switch (op) {
    case TermOp::Add:
      if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
      return out;
    case TermOp::Subtract:
      if (__builtin_sub_overflow(a, b, &out)) return std::nullopt;
      return out;
    case TermOp::Multiply:
      if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
      return out;
    case TermOp::Divide:
      return divides ? std::optional(a / b) : std::nullopt;
    case TermOp::Remainder:
      return divides ? std::optional(a % b) : std::nullopt;
    case TermOp::CeilDiv:
      return b > 0 ? std::optional(a / b + (a % b > 0 ? 1 : 0)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> fold_pair(TermOp op, int64_t a, int64_t b) {
  switch (op) {
    case TermOp::Less:
      return a < b;
    case TermOp::LessEqual:
      return a <= b;
    case TermOp::Greater:
      return a > b;
    case TermOp::GreaterEqual:
      return a >= b;
    case TermOp::Equal:
      return a == b;
    case TermOp::NotEqual:
      return a != b;
    case TermOp::And:
      return a != 0 && b != 0;
    case TermOp::Or:
      return a != 0 || b != 0;
    case TermOp::Min:
      return std::min(a, b);
    case TermOp::Max:
      return std::max(a, b);
    default:
      return fold_arithmetic(op, a, b);
  }
}

std::optional<int64_t> fold(TermOp op, const std::vector<TermRef>& parts) {
  for (const TermRef& part : parts) {
    if (!part->constant()) return std::nullopt;
  }
  const int64_t first = *parts[0]->constant();
  if (op == TermOp::Negate) return first == INT64_MIN ? std::nullopt : std::optional(-first);
  if (op == TermOp::Not) return first == 0;
  if (parts.size() != 2) return std::nullopt;
  return fold_pair(op, first, *parts[1]->constant());
}

// x * 1, x + 0, x && true: common in host code and useless in a plan.
std::optional<TermRef> neutral(TermOp op, const std::vector<TermRef>& parts) {
  if (op == TermOp::Pick && parts.size() == 3 && parts[0]->constant())
    return parts[*parts[0]->constant() != 0 ? 2 : 1];
  if (parts.size() != 2) return std::nullopt;
  const auto a = parts[0]->constant(), b = parts[1]->constant();
  if (op == TermOp::Add && a == 0) return parts[1];
  if ((op == TermOp::Add || op == TermOp::Subtract) && b == 0) return parts[0];
  if (op == TermOp::Multiply && a == 1) return parts[1];
  if ((op == TermOp::Multiply || op == TermOp::Divide || op == TermOp::CeilDiv) && b == 1)
    return parts[0];
  if (op == TermOp::And && ((a && *a == 0) || (b && *b == 0))) return number(0);
  if (op == TermOp::Or && ((a && *a != 0) || (b && *b != 0))) return number(1);
  if (op == TermOp::And && a) return parts[1];
  if (op == TermOp::And && b) return parts[0];
  if (op == TermOp::Or && a) return parts[1];
  if (op == TermOp::Or && b) return parts[0];
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> Term::constant() const {
  return op == TermOp::Number ? std::optional(value) : std::nullopt;
}

std::string Term::text() const {
  if (op == TermOp::Number) return std::to_string(value);
  if (op == TermOp::Name) return name;
  if (op == TermOp::BlocksPerSm) return "blocks_per_sm(" + name + ")";
  const OpRow& row = *row_of(op);
  if (parts.size() == 1) return row.text + operand(*parts[0], kPrimary);
  if (row.level > 0) {
    // Comparisons do not chain; the right operand of - / % must bind tighter.
    const int left = row.level == kComparison ? kComparison + 1 : row.level;
    return operand(*parts[0], left) + " " + row.text + " " + operand(*parts[1], row.level + 1);
  }
  std::string out = std::string(row.text) + "(";
  for (size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? ", " : "") + parts[i]->text();
  return out + ")";
}

TermRef number(int64_t value) {
  auto term = std::make_shared<Term>();
  term->value = value;
  term->range = {value, value};
  return term;
}

TermRef named(std::string name, TermBounds range, bool is_dim) {
  auto term = std::make_shared<Term>();
  term->op = TermOp::Name;
  term->name = std::move(name);
  term->range = range;
  term->is_dim = is_dim;
  return term;
}

TermRef blocks_per_sm(std::string kernel) {
  auto term = std::make_shared<Term>();
  term->op = TermOp::BlocksPerSm;
  term->name = std::move(kernel);
  term->range = {0, kMostBlocksPerSm};
  return term;
}

TermRef make_term(TermOp op, std::vector<TermRef> parts) {
  if (const auto value = fold(op, parts)) return number(*value);
  if (const auto same = neutral(op, parts)) return *same;
  auto term = std::make_shared<Term>();
  term->op = op;
  for (const TermRef& part : parts) term->size += part->size;
  term->parts = std::move(parts);
  std::vector<TermBounds> ranges;
  for (const TermRef& part : term->parts) ranges.push_back(part->range);
  term->range = range_of_parts(*term, ranges);
  return term;
}

bool mentions(const Term& term, const std::string& name) {
  return (term.op == TermOp::Name && term.name == name) ||
         std::ranges::any_of(term.parts,
                             [&](const TermRef& part) { return mentions(*part, name); });
}

TermRef negated(const TermRef& condition) {
  constexpr std::array kOpposites = {std::pair{TermOp::Less, TermOp::GreaterEqual},
                                     std::pair{TermOp::Greater, TermOp::LessEqual},
                                     std::pair{TermOp::Equal, TermOp::NotEqual}};
  for (const auto& [one, other] : kOpposites) {
    if (condition->op == one) return make_term(other, condition->parts);
    if (condition->op == other) return make_term(one, condition->parts);
  }
  if (condition->op == TermOp::Not) {
    const TermRef& inner = condition->parts[0];
    return inner->is_truth() ? inner : make_term(TermOp::NotEqual, {inner, number(0)});
  }
  return make_term(TermOp::Not, {condition});
}

std::optional<TermRef> divided(const TermRef& term, int64_t divisor) {
  if (divisor == 1) return term;
  if (const auto value = term->constant()) {
    if (divisor == 0 || *value % divisor != 0) return std::nullopt;
    return number(*value / divisor);
  }
  const auto& parts = term->parts;
  if (term->op == TermOp::Multiply) {
    if (const auto left = divided(parts[0], divisor))
      return make_term(TermOp::Multiply, {*left, parts[1]});
    if (const auto right = divided(parts[1], divisor))
      return make_term(TermOp::Multiply, {parts[0], *right});
    return std::nullopt;
  }
  if (term->op != TermOp::Add && term->op != TermOp::Subtract && term->op != TermOp::Max &&
      term->op != TermOp::Min)
    return std::nullopt;
  const auto left = divided(parts[0], divisor), right = divided(parts[1], divisor);
  if (!left || !right) return std::nullopt;
  return make_term(term->op, {*left, *right});
}

}  // namespace kw::cuda_import
