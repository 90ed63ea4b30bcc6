// Shapes that one module suggests itself: both sides of every comparison of its launch plan,
// extents around the constants of its compiled code, and secret ones above all of these.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "shapes/launch_conditions.h"
#include "shapes/plan_view.h"
#include "shapes/shapes.h"
#include "shapes/thresholds.h"

namespace kw::shapes {

/// At most this many shapes for one module.
inline constexpr size_t kMostModuleShapes = 512;

/// One variant of the code: what it compares with, and a small shape that runs it.
struct VariantCode {
  CodeExtents extents;
  std::vector<Threshold> thresholds;
  std::vector<LaunchConditions> conditions;
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

/// Why a shape cannot be judged.
struct Refusal {
  std::string why;
  bool costly = false;  // it needs more than `most_work`
  double most_work = 0;
};
using Refused = std::map<task::Dims, Refusal>;

struct ModuleShapesRequest {
  const std::set<task::Dims>& ran;    // besides those of the plan
  Refused& refused;                   // by an earlier plan for the same module; this one adds to it
  std::vector<Threshold> thresholds;  // of the launch plan
  std::vector<VariantCode> variants;
  double most_work = 0;  // of each shape
  uint64_t secret = 0;   // seeds the extents that are drawn
};

/// An Error is a failure of the machine.
Result<ModuleShapes> plan_module_shapes(const PlanView& view, const ShapePlan& plan,
                                        const ModuleShapesRequest& request);

/// One small shape for each variant of the code that none of these shapes runs. An Error is a
/// failure of the machine.
Result<ModuleShapes> plan_variants(const PlanView& view, const ShapePlan& plan,
                                   const std::set<task::Dims>& ran, double most_work);

}  // namespace kw::shapes
