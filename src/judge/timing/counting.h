// Where a candidate is counted for a shape to be fast at: the same shape, cut down until the
// virtual GPU does it in milliseconds, and how to get from there to the timed one.
#pragma once

#include <vector>

#include "core/result.h"
#include "gate/shapes.h"
#include "graph/graph.h"
#include "kernel/program.h"
#include "record/counters.h"
#include "task/task.h"
#include "tensor/host_tensor.h"
#include "timing/cost_model.h"

namespace kw::timing {

struct CountingShape {
  graph::Graph graph;     // of the timed shape
  gate::ShapePlan plan;   // all shapes the virtual GPU looks at
  gate::ShapeCase small;  // where things are counted
  std::vector<tensor::HostTensor> inputs;
  double scale = 1;  // from there to the timed one, by the task's work
};
/// An input Error when the task cannot be traced, or no shape of it is small enough.
Result<CountingShape> counting_shape(const task::Task& task, const task::Dims& timed);

/// Warp instructions that counting at that shape may take: many times what a plain kernel needs,
/// and a fraction of a second on the virtual GPU.
uint64_t counting_budget(const gate::ShapeCase& small);

/// Counters of the small shape beside the geometry of the timed one. As many launches as were
/// counted: one to one; else the first stands for all. `small`: what was counted, where it is
/// known; a launch of it that looks at its elements once or not at all grows as they do, while the
/// task's work may be that of a product.
std::vector<CostLaunch> cost_launches(const std::vector<record::LaunchCounters>& counted,
                                      const kernel::Program& timed,
                                      const kernel::Program* small = nullptr);

}  // namespace kw::timing
