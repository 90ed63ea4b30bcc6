// Extents for dims that have no value, and the ranges of dims that a reference accepts. Values are
// chosen for all dims together, by what the whole task then costs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "frontend/trace.h"
#include "graph/cost.h"
#include "task/task.h"

namespace kw::frontend {

/// The most that a shape may cost which the user did not choose.
struct ShapeBudget {
  double bytes = 0;  // inputs and outputs
  double flops = 0;
  double work = 0;  // lane instructions of the virtual GPU, estimated; 0: no limit
};
/// With a GPU: shapes that keep it busy. Without one: shapes that the virtual GPU runs uncut in
/// about 5 s.
ShapeBudget shape_budget(bool gpu);
bool fits_budget(const graph::Cost& cost, const ShapeBudget& budget);

/// The names in the shapes of the arguments, in the order in which they first appear.
std::vector<std::string> names_in_order(const std::vector<Argument>& arguments);

/// The smallest step of each dim that the shapes of the inputs tell: 128 for "K / 128".
std::map<std::string, int64_t> steps_in_shapes(const std::vector<Argument>& arguments);

/// Powers of two, or multiples of what the reference demands, for the names in `missing`: 64 to
/// 4096 each and all different where the budget allows that, less where it does not. Input Error of
/// the reference if no values were found that it accepts.
Result<task::Dims> assume_dims(const TraceEntry& entry, const task::Dims& known,
                               const std::vector<std::string>& missing, const ShapeBudget& budget);

/// The range of every dim at which the reference was traced: divisors that shapes and guards tell.
std::map<std::string, task::DimRange> dim_ranges(const TraceEntry& entry, const task::Dims& dims,
                                                 const graph::Graph& graph);

}  // namespace kw::frontend
