// Whether a shape of the task's domain selects a launch group, and which. A guard that no shape can
// satisfy is shown to be so by evaluating it over the ranges of all dims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shapes/plan_view.h"
#include "shapes/thresholds.h"

namespace kw::shapes {

/// Why no shape of the domain selects a group, in one sentence; "" when that is not shown.
std::string why_unreachable(const PlanView& view, int group);

/// The smallest shape that a search finds for each group, in the order of the groups; not set when
/// none is found. `tried`: shapes known otherwise, which are asked first.
std::vector<std::optional<task::Dims>> shapes_of_groups(const PlanView& view,
                                                        const std::vector<Threshold>& thresholds,
                                                        const std::vector<task::Dims>& tried);

/// Small extents for every dim of the task, all different.
task::Dims small_dims(const task::Task& task);
/// The largest number of elements of an input or output at these dims; 0 when it is not known.
double largest_tensor(const task::Task& task, const task::Dims& dims);

}  // namespace kw::shapes
