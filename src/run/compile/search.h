// Finds the compilers and CUDA's headers on this machine. It looks at files; the loader and python3
// are asked only if no NVRTC was found. No result is kept between calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kw::compile {

struct SearchOptions {
  std::string root =
      {};  // for tests: put in front of every absolute path that is not from the environment
  bool ask_python = true;  // as the last step
  bool programs = true;    // false: search nvcc, ptxas and clang only when there is no NVRTC
};

struct FoundNvrtc {
  std::string library;   // …/libnvrtc.so.13
  std::string builtins;  // …/libnvrtc-builtins.so.13.0
  std::string version;   // "13.0.88", or "13.0" when no more is known
};

struct FoundProgram {
  std::string path;
  std::string version;  // "13.0.88", "19.1.7"
};

struct FoundHeaders {
  std::vector<std::string> folders;  // in the order of the search
  bool runtime = false;              // cuda_fp16.h …
  bool crt = false;                  // crt/host_defines.h
  bool cccl = false;                 // cub, cuda/std
};

struct Toolbox {
  std::optional<FoundNvrtc> nvrtc;
  FoundHeaders headers;
  std::optional<FoundProgram> nvcc, ptxas, clang;
  std::string wrong_nvrtc;  // what is wrong with $KERNELWRIGHT_NVRTC; "" when it is right
  std::vector<std::string>
      looked_at;  // one line per place: "NVRTC: /usr/local/cuda/lib64: nothing"
};

/// Finds all tools. $KERNELWRIGHT_NVRTC (file or folder), $CUDA_HOME and $CUDA_PATH come first.
/// Only absolute paths are used, and the working directory is not searched.
Toolbox find_tools(const SearchOptions& options = {});

/// Finds a CUDA program by name ("nvdisasm", "ncu", "compute-sanitizer"); "" when there is none.
/// The order: $CUDA_HOME and $CUDA_PATH, PATH, toolkits (newest first), the profiler's own folders,
/// wheels.
std::string find_cuda_program(const std::string& name, const SearchOptions& options = {});

/// Changes when files in the folders do: names, sizes and times, down to `depth` levels of folders
/// (a toolkit does not change file by file, a user's folder does). Part of cache keys.
std::string fingerprint(const std::vector<std::string>& files_and_folders, int depth = 1);

/// Older versions of clang support too little of CUDA.
inline constexpr int kOldestClang = 19;

}  // namespace kw::compile
