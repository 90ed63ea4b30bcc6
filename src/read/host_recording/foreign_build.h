// Compiles a foreign CUDA file with its host code by nvcc: the library that a worker loads, and the
// PTX that replays its launches. The compiler can read only the toolkit, the system's headers and
// the given folders.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host_recording/recording_job.h"
#include "os/scratch.h"
#include "ports/compiler.h"

namespace kw::host_recording {

struct ForeignBuild {
  os::ScratchFolder folder;
  std::string library;  // its path
  std::string ptx;
  std::string compiler;  // "nvcc 13.0.88"
  std::map<std::string, KernelNumbers> kernels;
  std::vector<std::string> weak;               // functions whose existence the library asks for
  std::optional<ports::CompileFailed> failed;  // if set, there is no library
  bool from_cache = false;
};

/// One of the files that the compiler gets.
struct ForeignSource {
  std::string name;  // in the folder: "foreign.cu", "main.cpp"
  std::string text;
};

struct ForeignBuildRequest {
  std::vector<ForeignSource> sources;
  std::string file_name;  // name of the candidate's file, for messages
  std::string target;     // "sm_90"
  bool torch = false;     // with headers that replace PyTorch's
  std::vector<std::string> flags;
  std::vector<ForeignSource> headers;        // headers beside the candidate
  std::vector<std::string> include_folders;  // CUTLASS and similar
  double timeout_seconds = 60;
};

/// The build of a file with a launcher.
ForeignBuildRequest launcher_build(const std::string& text, const std::string& file_name,
                                   const std::string& launcher);

/// The build of an extension whose `function` is called with `arguments`
/// (host_recording/recording_source.h).
ForeignBuildRequest binding_build(const std::string& text, const std::string& file_name,
                                  const std::string& function, const std::string& arguments);

/// The library that replaces the CUDA runtime while host code is recorded. Foreign libraries link
/// to it explicitly: in a process whose PyTorch loads the real runtime, they must find this one
/// first.
std::string_view recorder_library();

/// The kernels that replay fills, copies and uploads, for candidates without a CUDA source.
Result<std::string> build_helpers(const std::string& target);

/// Earlier builds are read from the compile cache. An environment Error if nvcc is missing.
Result<ForeignBuild> build_foreign(const ForeignBuildRequest& request);

}  // namespace kw::host_recording
