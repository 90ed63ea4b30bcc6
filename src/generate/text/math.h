// Pointwise operations as CUDA C++ expressions over register values, with full precision. approx.h
// has the cheaper forms.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "text/graph_names.h"

namespace kw::generate {

/// An expression, and whether it needs parentheses as an operand.
struct Expr {
  std::string text;
  bool atom = true;

  std::string operand() const { return atom ? text : "(" + text + ")"; }
};

/// `op` of operands with dtype `from`; the result has dtype `to`. Adds the helper functions it
/// calls to `functions` (helpers.h).
Expr pointwise_text(Op op, DType from, DType to, const std::vector<Expr>& operands,
                    std::set<std::string>& functions);

}  // namespace kw::generate
