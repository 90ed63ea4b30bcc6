// Integers that the host would compute, as expressions over a launcher's parameters until a plan
// line prints them. Folded if all operands are known; immutable.
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

/// Of a value, both ends included.
struct TermBounds {
  int64_t low = INT64_MIN, high = INT64_MAX;
};

class Term;
using TermRef = std::shared_ptr<const Term>;

class Term {
 public:
  TermOp op = TermOp::Number;
  int64_t value = 0;  // for Number
  std::string name;   // for Name; for BlocksPerSm: the kernel
  std::vector<TermRef> parts;
  size_t size = 1;  // number of nodes in the tree
  TermBounds range;     // its value lies in it
  bool is_dim = false;  // a Name: an extent, at least 0

  std::optional<int64_t> constant() const;
  /// Whether the value is always 0 or 1.
  bool is_truth() const { return op == TermOp::Not || (op >= TermOp::Less && op <= TermOp::Or); }
  /// In the grammar of plan lines, with as few parentheses as possible.
  std::string text() const;
};

/// The largest tree that plan lines can hold.
inline constexpr size_t kMaxTermSize = 400;

TermRef number(int64_t value);
TermRef named(std::string name, TermBounds range = {}, bool is_dim = false);
TermRef blocks_per_sm(std::string kernel);
/// Never fails: a term that cannot be folded stays an expression.
TermRef make_term(TermOp op, std::vector<TermRef> parts);
TermRef negated(const TermRef& condition);
/// Whether a name stands in it.
bool mentions(const Term& term, const std::string& name);
/// `term` / `divisor` if its factors show that it divides evenly; otherwise empty.
std::optional<TermRef> divided(const TermRef& term, int64_t divisor);

}  // namespace kw::cuda_import
