// The tier for candidates with host code: a CUDA file that cannot be imported is compiled as it is,
// its launcher runs in a captive process without a GPU, and what it launched there becomes a
// recorded module (captive/). From then on it is judged and timed like any other, by a process that
// never ran its host code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/device.h"
#include "reference/import.h"
#include "task/task.h"
#include "verification/verify.h"

namespace kw::verification {

struct ForeignRequest {
  std::string path;
  reference::ImportOptions import;           // reference, inputs, launcher
  std::vector<std::string> include_folders;  // CUTLASS and the like
  const task::Task* task = nullptr;
  task::Dims dims;           // also to be recorded; may be empty
  ports::DeviceInfo device;  // that will judge
  std::string target;        // "" = the device's
  double timeout_seconds = 60;
};

/// A candidate as text, whatever it was as a file.
struct CandidateText {
  std::string text;                         // of a module; "" when there is a verdict already
  std::optional<record::Rejected> refused;  // its host code cannot be believed, or does not compile
  std::optional<ports::CompileFailed> compile_failed;
  std::vector<std::string> notes;
};

/// A module as it is, another CUDA file imported, and one that cannot be imported recorded. Errors
/// are about the file, the machine or what was left open.
Result<CandidateText> read_candidate(const ForeignRequest& request);

/// Whether the file is neither a module nor something else that this tier does not take.
bool is_foreign(const std::string& path, const std::string& text);

/// The report of a candidate that never became a module.
VerifyReport refused_report(const CandidateText& candidate, const task::Task& task,
                            const VerifyRequest& request);

}  // namespace kw::verification
