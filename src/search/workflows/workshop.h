// Where kernels are optimised on this machine: optimize's port Workshop over the judge that every
// search uses, and the authors of branches. Decides nothing about methods or iterations.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halving/ports.h"
#include "optimize/workshop.h"
#include "single_run/run.h"
#include "task/task.h"
#include "workflows/synthesize.h"

namespace kw::workflows {

struct WorkshopRequest {
  std::string reference;                // file or task folder
  std::string function;                 // of the file; "" = the only one
  std::vector<std::string> inputs;      // "x:fp16[B,D]", "eps=1e-5"
  std::map<std::string, int64_t> dims;  // to be fast at, instead of the reference's own
  std::string device = "auto", target, compiler;
  std::string precision;         // "tf32", "flush", "deterministic", commas between
  std::optional<uint64_t> seed;  // replays the inputs
  std::string cross_check = "auto";
  std::string
      folder;  // keeps all that is judged; opened again when it is there; "" = a passing one
  double timeout_seconds = 60;    // of each compile and each run
  double patience_seconds = 600;  // for a GPU another process uses
  int threads = 0;
  bool quick = false;   // one process and few samples per race
  std::string version;  // of this program, for the record
};

/// The engine's workshop, for one task at one shape. Inputs and truths are made once.
class TaskWorkshop : public optimize::Workshop {
 public:
  virtual const task::Task& task() const = 0;
  /// The shape that counts.
  virtual const task::Dims& dims() const = 0;
  /// Why there is no GPU; "" when there is one.
  virtual const std::string& no_gpu() const = 0;
  /// Compiles, counts on the virtual GPU and estimates; nothing is judged. Parallel to `kernels`.
  virtual Result<std::vector<ports::Outcome>> screen(const std::vector<std::string>& kernels) = 0;
  /// Begins to compile what code_of() will be asked for.
  virtual void expect(const std::vector<std::string>& kernels) = 0;
  /// What it becomes at that shape, PTX and launches, to compare it; "" when it is refused.
  virtual Result<std::string> code_of(const std::string& kernel) = 0;
};

/// Errors: the reference, an option, the machine.
Result<std::unique_ptr<TaskWorkshop>> open_workshop(const WorkshopRequest& request,
                                                    single_run::Progress progress = {});

/// Tunables of any module, and the designs of code generation for the task. The workshop must
/// outlive it.
Result<std::unique_ptr<optimize::Author>> builtin_author(TaskWorkshop& workshop);

/// A language model. Prompts, replies and what they cost go to `folder`, which is taken up again
/// when it is there; "": they are not kept. The workshop must outlive it.
Result<std::unique_ptr<optimize::Author>> model_author(TaskWorkshop& workshop,
                                                       const stages::ModelOptions& options,
                                                       const std::string& folder,
                                                       single_run::Progress progress = {});

}  // namespace kw::workflows
