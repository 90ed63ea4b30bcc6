// Integer expressions of plan lines: their form, and their value for given names. Every evaluation
// ends, with an int64 or with an Error that shows the values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::kernel {

enum class ExprOp : uint8_t {
  Number,
  Name,
  Negate,
  Not,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  And,
  Or,
  CeilDiv,
  Scaled,
  Min,
  Max,
  Pick,
  Has,
  BlocksPerSm,
};

struct ExprNode {
  ExprOp op = ExprOp::Number;
  int64_t value = 0;          // Number
  std::string name;           // Name, Has: the identifier; BlocksPerSm: the kernel as written
  std::vector<int> children;  // indices into Expr::nodes
  int column = 0, length = 0;
  double factor = 0;  // Scaled
};

/// A tree in a vector. The root is the last node; children come before their parent.
struct Expr {
  std::string text;  // as written
  int line = 0, column = 0;
  std::vector<ExprNode> nodes;

  const ExprNode& root() const { return nodes.back(); }
};

/// The values of names. Lets are evaluated when first needed, and their values are kept.
struct Scope {
  std::map<std::string, int64_t> values;
  std::map<std::string, const Expr*> lets;
  std::set<std::string> absent;  // optional inputs that were not given
  std::function<Result<int64_t>(const std::string& kernel)> blocks_per_sm;
  mutable std::map<std::string, int64_t> known_lets;
};

/// The value, or an input Error: "line 7: 'D / VEC': division by zero (D = 128, VEC = 0)".
Result<int64_t> evaluate(const Expr& expr, const Scope& scope);

/// The value of one name, as an expression in line `line` sees it.
Result<int64_t> evaluate_name(const std::string& name, const Scope& scope, int line);

/// "D = 128, VEC = 0": every name of the expression that has a value.
std::string values_of(const Expr& expr, const Scope& scope);

}  // namespace kw::kernel
