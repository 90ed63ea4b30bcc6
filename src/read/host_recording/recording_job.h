// The job of a worker that records: the libraries to load, the device to imitate, and the calls to
// make. It is sent as one frame of JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::host_recording {

/// One argument of the launcher: a tensor, or bytes.
struct Argument {
  int tensor = -1;
  std::vector<uint8_t> bytes;
};

struct Case {
  std::vector<uint64_t> tensor_bytes;
  std::vector<Argument> arguments;
};

struct KernelNumbers {
  std::vector<int64_t> params;  // bytes of each parameter
  int64_t registers = 0, static_shared = 0, local_bytes = 0, max_threads = 0;
};

struct CaptiveJob {
  std::string runtime, library;       // paths
  std::string entry;                  // the library's function that calls the launcher
  std::vector<std::string> readable;  // in addition to the system's libraries
  std::map<std::string, KernelNumbers> kernels;
  std::map<int, int64_t> attributes;  // by CUDA's numbers
  uint64_t memory_bytes = 0;          // memory of the device
  uint64_t base = 0;                  // where device memory starts; 0: where a real one could
  uint64_t seed = 1;
  size_t far_calls = 0;  // calls after three of each shape, with the shapes in any order
  std::vector<Case> cases;
};

/// Calls of the launcher at each shape: with tensors, with others, with the first ones again.
inline constexpr size_t kCallsPerCase = 3;

/// One row of numbers, the sizes of parameters last.
Json to_json(const KernelNumbers& kernel);
bool from_json(const Json& json, KernelNumbers& kernel);
Json to_json(const CaptiveJob& job);
Result<CaptiveJob> job_from_json(const Json& json);

/// The sizes in bytes of all parameters, for every entry of a PTX text.
std::map<std::string, std::vector<int64_t>> entry_params(const std::string& ptx);

}  // namespace kw::host_recording
