// The shapes a candidate must be right at: the task's own, and those derived to be awkward (extent
// 1, primes, tails behind vectors and tiles, large, empty). Where a device is slow, large ones are
// cut in the dims that only repeat work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::gate {

struct ShapeCase {
  task::Dims dims;
  std::string why;         // "the task's own", "inner extent 7", …
  bool demanded = false;   // the task's own, perhaps cut
  bool benchmark = false;  // the one to be fast at, perhaps cut
  graph::Graph graph;      // the reference at these dims
  double work = 0;         // see work_of()
};

struct ShapePlan {
  std::vector<task::Dims> demanded;   // what the task asks for, uncut: a module must serve them
  std::vector<ShapeCase> cases;       // what is run
  std::vector<std::string> left_out;  // "B=3 D=7: the reference refuses it: …"
};

struct ShapeLimits {
  double work = 0;         // of one case; 0: no limit
  double large_work = 0;   // of the one large derived case and of cut ones
  double most_work = 0;    // of a shape that cannot be cut; beyond it the shape is left out
  double nested_work = 0;  // of a derived one with a product within another (see tile_work.h)
  bool derive = true;      // false: only the task's own
  bool cut = true;         // the task's own too; false: they are run whatever they cost
};
/// What the virtual GPU does in milliseconds, and what a real GPU does with truths from the CPU.
ShapeLimits virtual_limits();
ShapeLimits device_limits();

/// Errors: a shape of the task cannot be traced. There may be no case at all, when everything costs
/// too much.
Result<ShapePlan> plan_shapes(const task::Task& task, const ShapeLimits& limits);

/// Roughly lane instructions of a plain kernel: arithmetic, and a few per element moved.
double work_of(const graph::Graph& graph);

}  // namespace kw::gate
