// Where a candidate's work is counted: the timed shape, reduced until the virtual GPU runs it in
// milliseconds. Also scales the counts to the timed shape.
#pragma once

#include <vector>

#include "core/result.h"
#include "graph/graph.h"
#include "kernel/program.h"
#include "record/counters.h"
#include "shapes/shapes.h"
#include "task/task.h"
#include "tensor/host_tensor.h"
#include "timing/cost_model.h"

namespace kw::timing {

struct CountingShape {
  graph::Graph graph;       // of the timed shape
  shapes::ShapePlan plan;   // all shapes of the virtual GPU
  shapes::ShapeCase small;  // the shape of the counts
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;  // from `small` to the timed shape, by work
};
/// Input Error when the task cannot be traced or none of its shapes is small enough.
Result<CountingShape> counting_shape(const task::Task& task, const task::Dims& timed);

/// The most warp instructions for counting at that shape: many times the need of a simple kernel,
/// and a fraction of a second on the virtual GPU.
uint64_t counting_budget(const shapes::ShapeCase& small);

/// Joins counters of the small shape with the geometry of the timed one. If the number of launches
/// is equal, they match one to one; otherwise the first counted launch stands for all. `small` is
/// the counted program, if known. A launch of it that touches each element at most about once grows
/// with its bytes, not with the task's work.
std::vector<CostLaunch> cost_launches(const std::vector<record::LaunchCounters>& counted,
                                      const kernel::Program& timed,
                                      const kernel::Program* small = nullptr);

}  // namespace kw::timing
