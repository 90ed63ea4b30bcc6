// Before a reference judges anything: does PyTorch read it as we do? Both evaluate it at small
// shapes; where they part, nothing is judged. Agreement is remembered in the cache folder, because
// starting torch takes seconds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "ports/oracle.h"
#include "task/task.h"
#include "torch_worker/torch_process.h"
#include "torch_worker/torch_python.h"
#include "verification/torch_reference.h"

namespace kw::verification {

enum class CrossCheckMode : uint8_t {
  Auto,    // where there is torch; what torch cannot evaluate is a note
  Always,  // anew, and an Error when it cannot be done
  Never,
};
/// "auto", "always" or "never".
Result<CrossCheckMode> cross_check_mode(const std::string& name);

enum class CrossCheckState : uint8_t {
  Agrees,      // PyTorch and kernelwright mean the same
  Remembered,  // they did when it was last asked
  NotChecked,  // there is no torch, it was not asked for, or torch could not evaluate it
};

struct CrossCheckReport {
  CrossCheckState state = CrossCheckState::NotChecked;
  std::string torch;                // its version, where known
  std::vector<std::string> shapes;  // compared, each over every family of inputs listed
  std::vector<std::string> families;
  std::vector<std::string> notes;  // why not checked; shapes PyTorch could not evaluate
  double seconds = 0;

  /// One line for people.
  std::string text() const;
};
Json to_json(const CrossCheckReport& report);

/// PyTorch, as the cross-check needs it; tests put other answers in its place.
struct CrossCheckTorch {
  std::function<torch_worker::FoundPython()> find;
  std::function<Result<torch_worker::CrossChecked>(const task::Task& task, const task::Dims& dims,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const CallOptions& options)>
      evaluate;
};
/// Both must outlive the result.
CrossCheckTorch cross_check_torch(ports::Oracle& oracle, torch_worker::TorchProcess& torch);

struct CrossCheckOptions {
  CrossCheckMode mode = CrossCheckMode::Auto;
  std::string version;  // of this program: another one reads references anew
  std::string folder;   // where agreement is remembered; "": nowhere
};

/// Input Error when the two part (it names op, line and column), or when the reference raises for
/// its own inputs.
Result<CrossCheckReport> cross_check_reference(const task::Task& task,
                                               const CrossCheckOptions& options,
                                               const CrossCheckTorch& torch);

}  // namespace kw::verification
