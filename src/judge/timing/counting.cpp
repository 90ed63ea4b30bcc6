#include "timing/counting.h"

#include <algorithm>

#include "core/contains.h"
#include "inputs/families.h"

namespace kw::timing {
namespace {

constexpr double kMostPerWork = 0.25, kLeastBudget = 1e6;
constexpr double kOnce = 1.5, kFewFlops = 2;  // limits per byte of the buffers

double bytes_of(const kernel::Program& program, const kernel::Launch& launch, bool writable) {
  std::vector<int> seen;
  double bytes = 0;
  for (const kernel::Param& param : launch.params) {
    if (param.buffer < 0 || contains(seen, param.buffer)) continue;
    seen.push_back(param.buffer);
    const kernel::Buffer& buffer = program.buffers[static_cast<size_t>(param.buffer)];
    if (!writable || buffer.role != kernel::Role::Input) bytes += static_cast<double>(buffer.bytes);
  }
  return bytes;
}

/// The growth of a launch to the timed shape by its bytes, if it touches each element about once;
/// otherwise 0.
double growth_of(const record::CounterValues& counted, double small_bytes, double timed_bytes) {
  const auto moved = static_cast<double>(counted.global_load_bytes + counted.global_store_bytes);
  const auto flops =
      static_cast<double>(counted.flops_fp32 + counted.flops_fp64 + counted.flops_tensor);
  const bool once = moved <= kOnce * small_bytes && flops <= kFewFlops * small_bytes;
  return once && small_bytes > 0 ? timed_bytes / small_bytes : 0;
}

}  // namespace

Result<CountingShape> counting_shape(const task::Task& task, const task::Dims& timed) {
  CountingShape at;
  at.graph = KW_TRY(task.graph_at(timed));
  at.plan = KW_TRY(shapes::plan_shapes(task, shapes::virtual_limits()));
  task::Task only = task;
  only.correctness_shapes = only.benchmark_shapes = {timed};
  shapes::ShapeLimits limits = shapes::virtual_limits();
  limits.derive = false;
  shapes::ShapePlan one = KW_TRY(shapes::plan_shapes(only, limits));
  if (one.cases.empty()) {
    // The timed shape cannot be cut small enough for the virtual GPU, so the largest other shape is
    // used.
    for (const shapes::ShapeCase& shape : at.plan.cases) {
      if (at.small.dims.empty() || shape.work > at.small.work) at.small = shape;
    }
  } else {
    at.small = std::move(one.cases.front());
  }
  if (at.small.graph.nodes.empty())
    return input_error("no shape of the task is small enough for the virtual GPU");
  at.inputs = KW_TRY(inputs::draw_inputs(task, at.small.graph, at.small.dims, "normal", 1));
  at.scale = at.small.work > 0 ? shapes::work_of(at.graph) / at.small.work : 1;
  return at;
}

uint64_t counting_budget(const shapes::ShapeCase& small) {
  return static_cast<uint64_t>(std::max(kLeastBudget, kMostPerWork * small.work));
}

std::vector<CostLaunch> cost_launches(const std::vector<record::LaunchCounters>& counted,
                                      const kernel::Program& timed, const kernel::Program* small) {
  std::vector<CostLaunch> out;
  for (const kernel::Launch& launch : timed.launches) {
    CostLaunch one;
    one.blocks = launch.grid.count();
    one.threads = static_cast<int>(launch.block.count());
    one.shared_bytes = launch.shared_bytes;
    one.readable_bytes = bytes_of(timed, launch, false);
    one.writable_bytes = bytes_of(timed, launch, true);
    out.push_back(one);
  }
  if (out.empty()) return out;
  for (size_t i = 0; i < counted.size(); ++i)
    out[counted.size() == out.size() ? i : 0].counted += counted[i].total;
  const bool pairs = small != nullptr && counted.size() == out.size();
  for (size_t i = 0; pairs && i < out.size() && small->launches.size() == out.size(); ++i) {
    out[i].growth = growth_of(counted[i].total, bytes_of(*small, small->launches[i], false),
                              out[i].readable_bytes);
  }
  return out;
}

}  // namespace kw::timing
