// Chooses the shapes at which a candidate must be right: the task's own, and derived difficult ones
// (extent 1, primes, tails after vectors and tiles, large, empty). For a slow device, large shapes
// are cut in dims that only repeat work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "task/task.h"

namespace kw::shapes {

struct ShapeCase {
  task::Dims dims;
  std::string why;         // such as "the task's own", "inner extent 7"
  bool demanded = false;   // the task's own, possibly cut
  bool benchmark = false;  // a benchmark shape, possibly cut
  graph::Graph graph;      // the reference at these dims
  double work = 0;         // see work_of()
  bool secret = false;     // its extents were drawn for this run
  bool stretched = false;  // one dim as large as affordable, the others small
};

struct ShapePlan {
  std::vector<task::Dims> demanded;   // the task's shapes, not cut: a module must serve them
  std::vector<ShapeCase> cases;       // the shapes to run
  std::vector<std::string> left_out;  // such as "B=3 D=7: the reference refuses it: …"
};

struct ShapeLimits {
  double work = 0;         // limit for one case; 0: no limit
  double large_work = 0;   // limit for the large derived case and for cut ones
  double most_work = 0;    // limit for a shape that cannot be cut; beyond it the shape is skipped
  double nested_work = 0;  // limit for derived nested products (see tile_work.h)
  bool derive = true;      // false: only the task's own shapes
  bool cut = true;         // whether the task's own shapes may be cut
  std::optional<uint64_t> secret = {};  // draws more extents from this seed
};
/// Limits for the virtual GPU (milliseconds per case), and for a real GPU with truths from the CPU.
ShapeLimits virtual_limits();
ShapeLimits device_limits();

/// Returns an Error if a shape of the task cannot be traced. There may be no case at all, if
/// everything costs too much.
Result<ShapePlan> plan_shapes(const task::Task& task, const ShapeLimits& limits);

/// A shape that was not planned, or why it cannot be run.
struct DerivedShape {
  std::optional<ShapeCase> shape;
  std::string refused;  // such as "B=3 D=7: the reference refuses it: …"
  bool costly = false;  // refused only because of its work
};
/// Traces the reference at these dims. An Error is a failure of the machine.
Result<DerivedShape> derive_shape(const task::Task& task, const ShapePlan& plan,
                                  const task::Dims& dims, const std::string& why, double most_work);

/// Estimates the lane instructions of a simple kernel: arithmetic, and some per element moved.
double work_of(const graph::Graph& graph);

}  // namespace kw::shapes
