// Integers that the host would compute, kept as expressions over a launcher's parameters until a
// plan line says them. Folded where all is known; immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw::cuda_import {

enum class TermOp : uint8_t {
  Number,
  Name,
  Negate,
  Not,
  Multiply,
  Divide,
  Remainder,
  Add,
  Subtract,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
  CeilDiv,
  Min,
  Max,
  Pick,
  BlocksPerSm,
};

class Term;
using TermRef = std::shared_ptr<const Term>;

class Term {
 public:
  TermOp op = TermOp::Number;
  int64_t value = 0;  // Number
  std::string name;   // Name, BlocksPerSm: the kernel
  std::vector<TermRef> parts;
  size_t size = 1;  // of the tree

  std::optional<int64_t> constant() const;
  /// Always 0 or 1.
  bool is_truth() const { return op == TermOp::Not || (op >= TermOp::Less && op <= TermOp::Or); }
  /// In the grammar of plan lines, with as few parentheses as it needs.
  std::string text() const;
};

/// What plan lines can hold.
inline constexpr size_t kMaxTermSize = 400;

TermRef number(int64_t value);
TermRef named(std::string name);
TermRef blocks_per_sm(std::string kernel);
/// Never fails: what does not fold stays an expression.
TermRef make_term(TermOp op, std::vector<TermRef> parts);
TermRef negated(const TermRef& condition);
/// `term` / `divisor` where it comes out even, by its factors.
std::optional<TermRef> divided(const TermRef& term, int64_t divisor);

}  // namespace kw::cuda_import
