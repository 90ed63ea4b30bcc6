// Records Python candidates: a ModelNew or a function runs in a Python process without a GPU, in
// which tensors are only addresses. Extensions for torch.utils.cpp_extension are compiled here and
// loaded there; Triton and CuTe compile there. The result is a recording like any other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host_recording/foreign_build.h"
#include "host_recording/python_request.h"
#include "sandbox/sandbox.h"

namespace kw::host_recording {

struct StandInRequest {
  PythonRequest python;
  std::string target;
  std::vector<std::string> include_folders;
  std::map<int, int64_t> attributes;  // of the device to imitate, by CUDA's numbers
};

/// The address of device memory in a process, and the seed of the noise that reads return.
struct PythonPlace {
  uint64_t base = 0, seed = 0;
  bool far = false;  // makes many more calls, and calls in other modes
};

/// The calls that a far process makes in other modes have their case's number plus a multiple of
/// this.
inline constexpr int64_t kVariantCases = 100000;

struct PythonCapture {
  std::vector<CaseRecord> cases;
  std::string refused;
};

/// Several processes share it: libraries that are built once, and recordings.
class StandIn {
 public:
  explicit StandIn(StandInRequest request) : request_(std::move(request)) {}

  /// Runs one process over all shapes for each place, in parallel; builds the requested extensions
  /// first. An Error if Python with torch (or an imported Triton or CuTe) or nvcc is missing.
  Result<std::vector<PythonCapture>> capture(const std::vector<PythonPlace>& places);

  /// Set if one of its extensions does not compile.
  const std::optional<ports::CompileFailed>& failed() const { return failed_; }
  /// How the process ended at a shape, for the shapes at which it ended.
  const std::map<size_t, std::string>& ended() const { return ended_; }
  /// The device code of all extensions, Triton and CuTe kernels, and of our helper kernels if they
  /// are needed.
  Result<std::string> ptx() const;
  /// The compilers that made it.
  std::string compiler() const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Answer = PythonAnswer;
  using Kept = std::unique_ptr<os::Child>;
  bool keeps_process() const;
  Result<Json> job_at(const PythonPlace& place) const;
  os::Allowed readable_by(const std::string& python) const;
  Result<Answer> ask(const std::string& python, const PythonPlace& place, Kept& kept) const;
  Result<Answer> ask_kept(const std::vector<std::string>& command, const Json& job,
                          const sandbox::ForeignProcess& walls, Kept& kept) const;
  Result<std::vector<Answer>> ask_all(const std::string& python,
                                      const std::vector<PythonPlace>& places);
  PythonCapture read(const Answer& answer);
  Status build(const Json& want);
  ForeignBuildRequest build_request(const Json& want);
  void note(const std::string& text);

  StandInRequest request_;
  std::optional<os::ScratchFolder> folder_;
  std::vector<Kept> kept_;                      // one per place
  std::map<std::string, ForeignBuild> builds_;  // by key
  std::vector<std::string> order_;
  std::map<std::string, std::string> images_;  // PTX of Triton and CuTe kernels by entry
  std::vector<std::string> weak_;              // functions whose existence extensions ask for
  bool wants_helpers_ = false;
  std::optional<ports::CompileFailed> failed_;
  std::map<size_t, std::string> ended_;
  std::vector<std::string> notes_;
};

/// Sorts the flags of an extension. `taken` change what is compiled; `left_out` are the others,
/// except flags without effect.
struct ExtensionFlags {
  std::vector<std::string> taken, left_out;
};
ExtensionFlags choose_flags(const std::vector<std::string>& flags);

/// Whether a Python file imports "triton" or "cutlass" (CuTe DSL).
bool imports(const std::string& text, std::string_view package);
/// Whether Triton has to choose among configurations, which needs a GPU.
bool wants_tuning(const std::string& text);

}  // namespace kw::host_recording
