// A candidate made ready to be timed at one shape: compiled, its inputs drawn, its outputs there
// judged, and their hashes at hand for the audit. What is not right at this very shape is not
// timed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clock/audit.h"
#include "clock/floor.h"
#include "core/result.h"
#include "gate/binding.h"
#include "gate/pool.h"
#include "kernel/module.h"
#include "ports/compiler.h"
#include "ports/device.h"
#include "ports/oracle.h"
#include "record/verdict.h"

namespace kw::timing {

/// One shape of a task with sets of inputs and their truths.
struct TimedShape {
  const task::Task* task = nullptr;
  gate::ShapeCase shape;
  std::vector<gate::SetPtr> sets;  // at least one; contents of timed calls come from here
  clock::Work work;
  uint64_t hash_seed = 0;  // of the pool the sets are from
};

/// What a task cannot avoid, from its graph at one shape.
clock::Work work_at(const task::Task& task, const graph::Graph& graph);

/// Takes sets of ordinary values from the pool where it has some at these dims, and draws more.
Result<TimedShape> timed_shape(gate::Pool& pool, const task::Task& task, const task::Dims& dims,
                               int sets, const gate::Entropy& entropy);

/// One candidate at that shape. Movable, not copyable: others point into it.
struct TimedCandidate {
  std::string name;
  ports::Compiled compiled;  // with its image
  kernel::Program program;
  gate::Matching matching;
  std::vector<ports::InputViews> inputs;  // per set of the shape, which must outlive this
  clock::AuditPlan audit;
  ports::ImageId image = 0;
  double compile_seconds = 0;
  std::optional<record::Verdict> refused;  // why it must not be timed

  ports::TimedProgram timed() const { return {image, &program, inputs}; }
};

struct PrepareOptions {
  kernel::Bindings fixed;  // target, tunables, the device's numbers
  double timeout_seconds = 60;
  std::string repro;
};

/// An Error only for what is not the candidate's doing.
Result<std::unique_ptr<TimedCandidate>> prepare_candidate(const kernel::Module& module,
                                                          const TimedShape& shape,
                                                          ports::Compiler& compiler,
                                                          ports::Device& device,
                                                          const PrepareOptions& options);

/// Why outputs (parallel to the program's buffers) are wrong for a set, or nothing; then `right` is
/// what comparing them said.
std::optional<record::Wrong> judge_outputs(const TimedShape& shape, const TimedCandidate& candidate,
                                           size_t set,
                                           const std::vector<tensor::HostTensor>& outputs,
                                           gate::RightOutputs* right = nullptr);

}  // namespace kw::timing
