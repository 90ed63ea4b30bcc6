// Python candidates: a ModelNew or a function runs in a Python process without a GPU, whose tensors
// are addresses. What it asks torch.utils.cpp_extension for is compiled here, as any foreign file
// is, and loaded there; Triton and CuTe compile there. What comes back is a recording as that of
// any captive.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host_recording/foreign_tier_build.h"
#include "host_recording/foreign_tier_torch.h"

namespace kw::host_recording {

struct StandInRequest {
  PythonRequest python;
  std::string target;
  std::vector<std::string> include_folders;
  std::map<int, int64_t> attributes;  // of the device it is to see, by CUDA's numbers
};

/// Where device memory lies in a process, and the noise that is read back there.
struct PythonPlace {
  uint64_t base = 0, seed = 0;
};

struct PythonCapture {
  std::vector<CaseRecord> cases;
  std::string refused;
};

/// Over several processes: libraries that are built once, and recordings.
class StandIn {
 public:
  explicit StandIn(StandInRequest request) : request_(std::move(request)) {}

  /// One process over all shapes for each place, all at once; extensions they ask for are built
  /// first. Errors: no Python with torch (or Triton, CuTe, where imported), no nvcc.
  Result<std::vector<PythonCapture>> capture(const std::vector<PythonPlace>& places);

  /// Set when one of its extensions does not compile.
  const std::optional<ports::CompileFailed>& failed() const { return failed_; }
  /// How the process ended at a shape, where it did.
  const std::map<size_t, std::string>& ended() const { return ended_; }
  /// The device code of all extensions, Triton and CuTe kernels, with our own for what is played
  /// back beside launches.
  Result<std::string> ptx() const;
  /// What compiled it.
  std::string compiler() const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  using Answer = PythonAnswer;
  using Kept = std::unique_ptr<os::Child>;
  bool keeps_process() const;
  Result<Answer> ask(const std::string& python, const PythonPlace& place, Kept& kept) const;
  Result<Answer> ask_kept(const std::vector<std::string>& command, const Json& job,
                          const os::ChildOptions& options, Kept& kept) const;
  Result<std::vector<Answer>> ask_all(const std::string& python,
                                      const std::vector<PythonPlace>& places);
  PythonCapture read(const Answer& answer);
  Status build(const Json& want);
  ForeignBuildRequest build_request(const Json& want);
  void note(const std::string& text);

  StandInRequest request_;
  std::optional<os::ScratchFolder> folder_;
  std::vector<Kept> kept_;                      // one for each place
  std::map<std::string, ForeignBuild> builds_;  // by key
  std::vector<std::string> order_;
  std::map<std::string, std::string> images_;  // PTX of Triton and CuTe kernels by entry
  bool wants_helpers_ = false;
  std::optional<ports::CompileFailed> failed_;
  std::map<size_t, std::string> ended_;
  std::vector<std::string> notes_;
};

/// Of the flags an extension is to be compiled with, those that say what is compiled; and those
/// that are neither that nor without effect.
struct ExtensionFlags {
  std::vector<std::string> taken, left_out;
};
ExtensionFlags choose_flags(const std::vector<std::string>& flags);

/// Whether a Python file says that it imports "triton" or "cutlass" (which CuTe DSL is).
bool imports(const std::string& text, std::string_view package);
/// Whether Triton is to choose among configurations, which only a GPU can tell.
bool wants_tuning(const std::string& text);

}  // namespace kw::host_recording
