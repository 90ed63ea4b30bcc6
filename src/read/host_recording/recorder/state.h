// A replacement for CUDA's runtime library that executes nothing and records everything: a foreign
// launcher runs against it without a GPU. This header has the state that its functions share.
// docs/foreign.md describes the text of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kw::recorder {

/// CUDA's result codes.
enum DeviceCode : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kNoMemory = 2,
  kInvalidConfiguration = 9,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidFunction = 98,
  kInvalidDevice = 101,
  kNotReady = 600,
  kNotSupported = 801,
};

struct LaunchDims {
  unsigned x, y, z;
};

struct RecordedKernel {
  std::string entry;
  std::vector<size_t> params;
  int registers = 0, static_shared = 0, local_bytes = 0, max_threads = 0;
};

struct AddressRange {
  uint64_t bytes = 0;
};

struct State {
  // Known before any code runs.
  std::map<std::string, RecordedKernel> kernels;
  std::map<std::string, std::string> aliases;  // a library's names for kernels
  std::map<int, int64_t> attributes;           // by CUDA's numbers, and our own below 0
  uint64_t memory_bytes = 0;

  // Registered by the program.
  std::map<const void*, RecordedKernel*> functions;
  struct Variable {
    std::string name;
    uint64_t bytes = 0;
  };
  std::map<const void*, Variable> variables;

  // Recorded while it runs.
  std::string text;          // the recording since it was last taken
  std::string* out = &text;  // or the text of a graph that is being captured
  std::map<uint64_t, AddressRange> device, host;
  uint64_t next = 0, used = 0;
  uint64_t noise = 1;  // seed of the values that reads return
  int64_t events = 0;
  int last_error = kSuccess;
  std::map<uint64_t, std::string> graphs;
  uint64_t handles = 0;
  void (*at_end)() = nullptr;  // called before the process is ended for doing too much
};

State& state();

/// Adds one line; too many lines become a refusal.
void write_line(const std::string& line);
/// Records that the call cannot be replayed.
int refuse(const std::string& why);
int fail(int code);
std::string hex(const void* bytes, size_t count);
uint64_t as_number(const void* pointer);
void* new_handle();
bool on_device(const void* pointer);
/// Fills host memory with values that no program can have computed.
void fill_with_noise(void* to, size_t bytes);

}  // namespace kw::recorder

#define KW_RECORDED extern "C" __attribute__((visibility("default")))
