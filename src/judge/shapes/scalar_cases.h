// Shapes at which runtime scalars have other values than the task's, so that a kernel with the
// defaults built in is found.
#pragma once

#include <cstdint>

#include "core/result.h"
#include "shapes/shapes.h"
#include "task/task.h"

namespace kw::shapes {

/// Appends copies of one of the plan's shapes, of medium work, with other values of all runtime
/// scalars: smaller, larger, random ones from `seed`. Positive numbers stay positive, numbers
/// between 0 and 1 stay there, integers stay integers.
Status add_scalar_cases(const task::Task& task, uint64_t seed, double most_work, ShapePlan& plan);

}  // namespace kw::shapes
