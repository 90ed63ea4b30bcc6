// Handles candidates with host code. A CUDA file that cannot be imported is compiled as it is. Its
// launcher runs in a confined process without a GPU, and its launches become a recorded module
// (host_recording/). That module is judged and timed like any other, by a process that never ran
// the host code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "ports/device.h"
#include "reference/import_file.h"
#include "task/task.h"
#include "verification/verify.h"

namespace kw::verification {

struct ForeignRequest {
  std::string path;
  reference::ImportOptions import;           // reference, inputs, launcher
  std::vector<std::string> include_folders;  // such as CUTLASS
  const task::Task* task = nullptr;
  task::Dims dims;           // a further shape to record; may be empty
  ports::DeviceInfo device;  // the device that will judge
  std::string target;        // "": the device's
  double timeout_seconds = 60;
};

/// A candidate as a module's text.
struct CandidateText {
  std::string text;                         // of a module; "" when there is a verdict already
  std::optional<record::Rejected> refused;  // its host code is refused, or it does not compile
  std::optional<ports::CompileFailed> compile_failed;
  std::vector<std::string> notes;
};

/// A module is returned as it is. Another CUDA file is imported, or recorded if it cannot be
/// imported. Errors are about the file, the machine or missing options.
Result<CandidateText> read_candidate(const ForeignRequest& request);

/// Whether the file is Python, or CUDA with host code and not a module.
bool is_foreign(const std::string& path, const std::string& text);

/// The report of a candidate that was refused before it became a module.
VerifyReport refused_report(const CandidateText& candidate, const task::Task& task,
                            const VerifyRequest& request);

}  // namespace kw::verification
