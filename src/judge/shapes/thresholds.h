// Where a module may change what it does: comparisons in its launch plan, and constants in its
// compiled code. The judge runs one shape on each side of every such place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/expr.h"
#include "ptx/ptx_module.h"
#include "shapes/plan_view.h"

namespace kw::shapes {

/// One comparison of the plan. min() and max() compare their arguments too.
struct Threshold {
  kernel::Expr left, right;
  kernel::ExprOp op = kernel::ExprOp::Less;
  std::string text;  // "line 9: B >= 5000"
};

/// Every comparison in guards, lets, launches, repeats and scratch, each text once.
std::vector<Threshold> plan_thresholds(const kernel::Module& module);

/// The source text of one node of an expression.
std::string node_text(const kernel::Expr& expr, size_t node);
/// A node as an expression of its own.
kernel::Expr node_expr(const kernel::Expr& expr, size_t node);

/// Two extents of one dim between which a threshold changes its answer. They are neighbours, or as
/// near as the dim's range allows.
using Sides = std::pair<int64_t, int64_t>;
/// The other dims stay as in `base`. Not set: the answer never changes along this dim.
std::optional<Sides> sides_of(const Threshold& threshold, const PlanView& view,
                              const task::Dims& base, const std::string& dim);

/// An integer constant of an operand, also of a float that holds one.
std::optional<int64_t> integer_of(const ptx::Operand& operand);

/// Extents at which device code may change what it does: constants with their neighbours.
struct CodeExtents {
  std::vector<int64_t> compared;  // of comparisons, min and max; values of small tables
  std::vector<int64_t> behind;    // one more than those of other arithmetic: where an unrolled part
                                  // of a row has its first element
  std::vector<int64_t> other;     // the rest of these
  void merge(const CodeExtents& more);
};
CodeExtents code_extents(const ptx::Module& code);

}  // namespace kw::shapes
