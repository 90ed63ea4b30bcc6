// Conditions over canonical metrics, as the catalogue writes them: "stall_barrier_pct > 5 worst 30
// and not has_matmul". Text to tree only; what a condition is worth for measured values is decided
// elsewhere (profile).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::catalog {

struct Expression {
  enum class Kind : unsigned char { Below, Above, Flag, Not, And, Or };
  Kind kind = Kind::Flag;
  std::string metric;             // Below, Above, Flag
  double good = 0;                // Below, Above: from here on there is nothing to complain about
  std::optional<double> worst;    // here the complaint is full; nothing: it is full at once
  std::vector<Expression> parts;  // Not: one; And, Or: two or more
};

/// 'and' binds closer than 'or'; parentheses group. The Error (Blame::Input) says what was
/// expected, and where.
Result<Expression> parse_expression(std::string_view text);
/// The same condition in the catalogue's own writing.
std::string to_text(const Expression& expression);
/// Every metric it speaks of, each once, in order.
std::vector<std::string> metrics_of(const Expression& expression);

}  // namespace kw::catalog
