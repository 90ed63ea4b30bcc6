// Before a reference judges candidates: does PyTorch read it as we do? Both evaluate it at small
// shapes. If they differ, nothing is judged. Agreement is cached, because torch needs seconds to
// start.
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
  Auto,    // if torch is installed; what torch cannot evaluate is a note
  Always,  // without the cache; an Error when it cannot be done
  Never,
};
/// "auto", "always" or "never".
Result<CrossCheckMode> cross_check_mode(const std::string& name);

enum class CrossCheckState : uint8_t {
  Agrees,      // PyTorch and kernelwright give the same results
  Remembered,  // they agreed at an earlier check
  NotChecked,  // no torch, not requested, or torch could not evaluate it
};

struct CrossCheckReport {
  CrossCheckState state = CrossCheckState::NotChecked;
  std::string torch;                // its version, if known
  std::vector<std::string> shapes;  // shapes compared, each with every family below
  std::vector<std::string> families;
  std::vector<std::string> notes;  // why not checked; shapes PyTorch could not evaluate
  /// Where PyTorch itself misses an atol or rtol that the task states; "" if nowhere.
  std::string beyond_tolerance;
  double seconds = 0;

  /// One line for the user.
  std::string text() const;
};
Json to_json(const CrossCheckReport& report);

/// PyTorch as the cross-check uses it. Tests replace it with a fake.
struct CrossCheckTorch {
  std::function<torch_worker::FoundPython()> find;
  std::function<Result<torch_worker::CrossChecked>(const task::Task& task, const task::Dims& dims,
                                                   const std::vector<tensor::HostTensor>& inputs,
                                                   const CallOptions& options)>
      evaluate;
};
/// Both arguments must outlive the result.
CrossCheckTorch cross_check_torch(ports::Oracle& oracle, torch_worker::TorchProcess& torch);

struct CrossCheckOptions {
  CrossCheckMode mode = CrossCheckMode::Auto;
  std::string version;  // of this program; a new version checks again
  std::string folder;   // of the cache; "": no cache
};

/// Input Error when the two differ (it names op, line and column), or when the reference raises for
/// its own inputs.
Result<CrossCheckReport> cross_check_reference(const task::Task& task,
                                               const CrossCheckOptions& options,
                                               const CrossCheckTorch& torch);

}  // namespace kw::verification
