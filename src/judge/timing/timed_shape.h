// A candidate prepared for timing at one shape: compiled, with inputs, its outputs judged, and
// their hashes ready for the audit. A candidate that is wrong at this shape is not timed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock/audit.h"
#include "clock/floor.h"
#include "core/result.h"
#include "gate/pool.h"
#include "kernel/module.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "record/verdict.h"
#include "shapes/binding.h"

namespace kw::timing {

/// One shape of a task with sets of inputs and their truths.
struct TimedShape {
  const task::Task* task = nullptr;
  shapes::ShapeCase shape;
  std::vector<gate::SetPtr> sets;  // at least one; timed calls use these contents
  clock::Work work;
  uint64_t hash_seed = 0;  // of the pool of the sets
};

/// The least work of a task, from its graph at one shape.
clock::Work work_at(const task::Task& task, const graph::Graph& graph);

/// Takes sets of ordinary values at these dims from the pool, and draws more if needed.
Result<TimedShape> timed_shape(gate::Pool& pool, const task::Task& task, const task::Dims& dims,
                               int sets, const gate::Entropy& entropy);

/// One candidate at that shape. Movable, not copyable: other objects point into it.
struct TimedCandidate {
  std::string name;
  ports::Compiled compiled;  // with its image
  kernel::Program program;
  shapes::Matching matching;
  std::vector<ports::InputViews> inputs;  // per set of the shape, which must outlive this
  clock::AuditPlan audit;
  ports::ImageId image = 0;
  double compile_seconds = 0;
  std::optional<record::Verdict> refused;  // why it must not be timed

  ports::TimedProgram timed() const { return {image, &program, inputs}; }
};

struct PrepareOptions {
  kernel::Bindings fixed;  // target, tunables, numbers of the device
  double timeout_seconds = 60;
  std::string repro;
};

/// An Error only for failures that the candidate did not cause.
Result<std::unique_ptr<TimedCandidate>> prepare_candidate(const kernel::Module& module,
                                                          const TimedShape& shape,
                                                          ports::Compiler& compiler,
                                                          ports::Device& device,
                                                          const PrepareOptions& options);

/// Why outputs (parallel to the program's buffers) are wrong for a set; not set when they are
/// right. `right` receives the results of the comparison.
std::optional<record::Wrong> judge_outputs(const TimedShape& shape, const TimedCandidate& candidate,
                                           size_t set,
                                           const std::vector<tensor::HostTensor>& outputs,
                                           gate::RightOutputs* right = nullptr);

}  // namespace kw::timing
