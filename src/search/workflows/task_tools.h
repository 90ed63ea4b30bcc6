// Optimises kernels on this machine: the judge that every search uses, for one task at one shape,
// and the authors of branches. Decides nothing about methods or iterations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optimize/optimize_tools.h"
#include "single_run/run_module.h"
#include "task/task.h"
#include "workflows/synthesize.h"

namespace kw::workflows {

struct TaskToolsRequest : TaskRequest {
  std::string folder;             // stores all results; reopened if it exists; "": a temporary one
  double patience_seconds = 600;  // time to wait for a GPU that another process uses
};
/// What a run stores of it.
void fields(auto& v, TaskToolsRequest& r) {
  v("function", r.function)("inputs", r.inputs)("dims", r.dims)("device", r.device);
  v("target", r.target)("compiler", r.compiler)("precision", r.precision)("seed", r.seed);
  v("cross_check", r.cross_check)("timeout_seconds", r.timeout_seconds)("threads", r.threads);
  v("budget_seconds", r.budget_seconds)("quick", r.quick)("mode", r.mode);
}

/// The real tools, for one task at one shape. Inputs and truths are made once.
class TaskTools : public optimize::OptimizeTools {
 public:
  virtual ~TaskTools() = default;
  virtual const task::Task& task() const = 0;
  /// The timed shape.
  virtual const task::Dims& dims() const = 0;
  /// Why there is no GPU; "" when there is one.
  virtual const std::string& no_gpu() const = 0;
  /// Starts compiling what code_of() will need.
  virtual void expect(const std::vector<std::string>& kernels) = 0;
  /// PTX and launches at that shape, for comparison; "" when the kernel is refused.
  virtual Result<std::string> code_of(const std::string& kernel) = 0;
};

/// Errors: the reference, an option, the machine.
Result<std::unique_ptr<TaskTools>> open_task_tools(const TaskToolsRequest& request,
                                                   single_run::Progress progress = {});

/// Uses tunables of any module and the designs of code generation for the task. The tools must
/// outlive it.
Result<std::unique_ptr<optimize::Author>> builtin_author(TaskTools& tools);

/// A model. Prompts, replies and cost go to `folder`, which is reopened if it exists; "": they are
/// not stored. The tools must outlive it.
Result<std::unique_ptr<optimize::Author>> model_author(TaskTools& tools,
                                                       const stages::ModelOptions& options,
                                                       const std::string& folder,
                                                       single_run::Progress progress = {});

}  // namespace kw::workflows
