// Shapes at which runtime scalars have other values than the task's, so that a kernel with the
// defaults built in is found.
#pragma once

#include <cstdint>

#include <vector>

#include "core/result.h"
#include "inputs/immediates.h"
#include "shapes/shapes.h"
#include "task/task.h"

namespace kw::shapes {

/// Appends copies of one of the plan's shapes, of medium work, with other values of all runtime
/// scalars: smaller, larger, random ones from `seed`, much smaller and much larger ones, one of any
/// size, and all numbers alike. Positive numbers stay positive, numbers between 0 and 1 stay there,
/// integers stay integers.
Status add_scalar_cases(const task::Task& task, uint64_t seed, double most_work, ShapePlan& plan);

/// Copies of the same shape in which runtime scalars have constants that a candidate's code
/// compares with, at most a dozen; none without runtime scalars or such constants.
Result<std::vector<ShapeCase>> constant_scalar_cases(const task::Task& task, const ShapePlan& plan,
                                                     const inputs::Immediates& module,
                                                     double most_work);

}  // namespace kw::shapes
