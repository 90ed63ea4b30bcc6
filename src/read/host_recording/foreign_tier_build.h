// A foreign CUDA file, compiled by nvcc with its host code: the library a captive process loads,
// and the PTX its launches are played back with. The compiler sees the toolkit, the system's
// headers and the folders it is given, nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host_recording/job.h"
#include "os/scratch.h"
#include "ports/compiler.h"

namespace kw::host_recording {

struct ForeignBuild {
  os::ScratchFolder folder;
  std::string library;  // path
  std::string ptx;
  std::string compiler;  // "nvcc 13.0.88"
  std::map<std::string, KernelNumbers> kernels;
  std::optional<ports::CompileFailed> failed;  // then there is no library
  bool from_cache = false;
};

/// One of the files, as the compiler is to see it.
struct ForeignSource {
  std::string name;  // in the folder: "foreign.cu", "main.cpp"
  std::string text;
};

struct ForeignBuildRequest {
  std::vector<ForeignSource> sources;
  std::string file_name;  // the candidate's, for messages
  std::string target;     // "sm_90"
  bool torch = false;     // with headers that stand in for PyTorch's
  std::vector<std::string> flags;
  std::vector<ForeignSource> headers;        // that stand beside it
  std::vector<std::string> include_folders;  // CUTLASS and the like
  double timeout_seconds = 60;
};

/// A file with a launcher.
ForeignBuildRequest launcher_build(const std::string& text, const std::string& file_name,
                                   const std::string& launcher);

/// An extension whose `function` is called with `arguments` (host_recording/source.h).
ForeignBuildRequest binding_build(const std::string& text, const std::string& file_name,
                                  const std::string& function, const std::string& arguments);

/// What stands in for CUDA's runtime while host code is recorded. Libraries are linked with it: in
/// a process whose PyTorch brings the real one, theirs is found first.
std::string_view recorder_library();

/// The kernels that play back fills, copies and uploads, for files without a CUDA source of their
/// own.
Result<std::string> build_helpers(const std::string& target);

/// What was built once is read from the compile cache. An environment Error when there is no nvcc.
Result<ForeignBuild> build_foreign(const ForeignBuildRequest& request);

}  // namespace kw::host_recording
