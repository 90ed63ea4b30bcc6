// Conditions over metrics, in the notation of the catalog: "stall_barrier_pct > 5 worst 30 and not
// has_matmul". This module turns text into a tree; profile evaluates the tree on measured values.
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
  double good = 0;                // Below, Above: the condition is false from this value on
  std::optional<double> worst;    // the condition is fully true here; not set: at once
  std::vector<Expression> parts;  // Not: one; And, Or: two or more
};

/// 'and' binds more tightly than 'or'; parentheses group. The input Error says what was expected
/// and where.
Result<Expression> parse_expression(std::string_view text);
/// The same condition in the notation of the catalog.
std::string to_text(const Expression& expression);
/// Every metric of the condition, each once, in order.
std::vector<std::string> metrics_of(const Expression& expression);

}  // namespace kw::catalog
