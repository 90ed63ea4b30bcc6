// Shapes that one module suggests itself: both sides of every comparison of its launch plan,
// extents around the constants of its compiled code, and secret ones above all of these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "shapes/plan_view.h"
#include "shapes/shapes.h"
#include "shapes/thresholds.h"

namespace kw::shapes {

/// At most this many shapes for one module.
inline constexpr size_t kMostModuleShapes = 512;

/// The code that one launch group runs, and a small shape that selects the group.
struct GroupCode {
  int group = 0;
  CodeExtents extents;
  std::vector<Threshold> thresholds;
  task::Dims base;
};

struct ModuleShapes {
  std::vector<ShapeCase> cases;
  std::vector<std::string> left_out;  // thresholds without a shape on one side, with the reason
  /// Of these: what a shape of the task would still show, and the elements that it needs at least.
  struct Open {
    std::string text;
    double elements = 0;  // 0: not known
  };
  std::vector<Open> open;
};

/// `most_work` limits each shape; `secret` seeds the extents that are drawn. An Error is a failure
/// of the machine.
Result<ModuleShapes> plan_module_shapes(const PlanView& view, const ShapePlan& plan,
                                        const std::vector<Threshold>& thresholds,
                                        const std::vector<GroupCode>& groups, double most_work,
                                        uint64_t secret);

}  // namespace kw::shapes
