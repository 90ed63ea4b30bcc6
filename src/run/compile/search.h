// Where on this machine the compilers and CUDA's headers are. Looks only at files (and once at the
// loader and at python3 when all else fails); nothing is kept between calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kw::compile {

struct SearchOptions {
  std::string root =
      {};  // put in front of every absolute path that is not from the environment; for tests
  bool ask_python = true;  // as the last resort
  bool programs = true;  // false: nvcc, ptxas and clang are only looked for when there is no NVRTC
};

struct FoundNvrtc {
  std::string library;   // …/libnvrtc.so.13
  std::string builtins;  // …/libnvrtc-builtins.so.13.0
  std::string version;   // "13.0.88", or "13.0" when nothing tells more
};

struct FoundProgram {
  std::string path;
  std::string version;  // "13.0.88", "19.1.7"
};

struct FoundHeaders {
  std::vector<std::string> folders;  // in the order they are searched
  bool runtime = false;              // cuda_fp16.h …
  bool crt = false;                  // crt/host_defines.h
  bool cccl = false;                 // cub, cuda/std
};

struct Toolbox {
  std::optional<FoundNvrtc> nvrtc;
  FoundHeaders headers;
  std::optional<FoundProgram> nvcc, ptxas, clang;
  std::string wrong_nvrtc;  // what is wrong with $KERNELWRIGHT_NVRTC; "" when nothing
  std::vector<std::string>
      looked_at;  // one line per place: "NVRTC: /usr/local/cuda/lib64: nothing"
};

/// Everything that can be found. $KERNELWRIGHT_NVRTC (file or folder), $CUDA_HOME and $CUDA_PATH go
/// first. Only absolute paths are followed, and nothing is looked for in the working directory.
Toolbox find_tools(const SearchOptions& options = {});

/// A program of CUDA's by name ("nvdisasm", "ncu", "compute-sanitizer"), and "" when there is none:
/// $CUDA_HOME and $CUDA_PATH, PATH, toolkits (newest first), the profiler's own folders, wheels.
std::string find_cuda_program(const std::string& name, const SearchOptions& options = {});

/// Changes when files beneath the folders do: names, sizes and times, down to `depth` levels of
/// folders (a toolkit does not change file by file, a user's folder does). Goes into cache keys.
std::string fingerprint(const std::vector<std::string>& files_and_folders, int depth = 1);

/// clang older than this knows too little of CUDA.
inline constexpr int kOldestClang = 19;

}  // namespace kw::compile
