// Floating expressions of plan lines, as in `let SCALE: fp32 = 1 / sqrt(D)`: numbers that follow
// from dims and scalars. They are passed to kernels; they decide no launch and no extent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "kernel/cursor.h"
#include "kernel/expr.h"

namespace kw::kernel {

enum class NumberOp : uint8_t {
  Literal,
  Name,
  Integer,
  Negate,
  Add,
  Subtract,
  Multiply,
  Divide,
  Call
};

struct NumberNode {
  NumberOp op = NumberOp::Literal;
  double value = 0;           // Literal
  std::string name;           // Name: the identifier; Call: the function
  Expr integer;               // Integer: the expression inside int(…)
  std::vector<int> children;  // indices into NumberExpr::nodes
  int column = 0, length = 0;
};

/// A tree in a vector. The root is the last node.
struct NumberExpr {
  std::string text;  // as written
  int line = 0, column = 0;
  std::vector<NumberNode> nodes;
};

/// Not set after a problem, which was reported.
std::optional<NumberExpr> parse_number(Cursor& cursor);
/// The same for a text of its own; problems are not reported.
std::optional<NumberExpr> parse_number(const std::string& text);

/// The value in double precision. `floats` has the floating scalars; integers come from the scope.
Result<double> evaluate(const NumberExpr& expr, const Scope& integers,
                        const std::map<std::string, double>& floats);

/// sqrt, log, …: the function of this name with this many arguments; null for an unknown one. The
/// front end calls the same functions, so that a plan gives the bits that Python gives.
using NumberFunction = double (*)(double, double);
NumberFunction number_function(const std::string& name, size_t arguments);

}  // namespace kw::kernel
