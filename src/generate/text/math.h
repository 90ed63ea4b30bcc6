// Pointwise operations as CUDA C++ expressions over register values, with full precision. Cheaper
// ways are approx.h's business.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/op.h"
#include "tensor/dtype.h"

namespace kw::generate {

/// An expression, and whether it needs parentheses as an operand.
struct Expr {
  std::string text;
  bool atom = true;

  std::string operand() const { return atom ? text : "(" + text + ")"; }
};

/// `op` of operands whose dtype is `from`, giving `to`. Helper functions it calls are added to
/// `functions` (helpers.h).
Expr pointwise_text(graph::Op op, tensor::DType from, tensor::DType to,
                    const std::vector<Expr>& operands, std::set<std::string>& functions);

}  // namespace kw::generate
