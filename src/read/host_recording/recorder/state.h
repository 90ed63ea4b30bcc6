// A stand-in for CUDA's runtime library that does nothing and writes down everything: a foreign
// launcher runs against it without a GPU, and what it would have launched is its recording. This is
// what its functions share. The text it writes is described in docs/foreign.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kw::recorder {

/// CUDA's numbers for what its functions return.
enum Code : int {
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

struct Dims {
  unsigned x, y, z;
};

struct Kernel {
  std::string entry;
  std::vector<size_t> params;
  int registers = 0, static_shared = 0, local_bytes = 0, max_threads = 0;
};

struct Range {
  uint64_t bytes = 0;
};

struct State {
  // What is known before anything runs.
  std::map<std::string, Kernel> kernels;
  std::map<std::string, std::string> aliases;  // what a library calls them
  std::map<int, int64_t> attributes;           // by CUDA's numbers, and ours below 0
  uint64_t memory_bytes = 0;

  // What the program registered.
  std::map<const void*, Kernel*> functions;
  struct Variable {
    std::string name;
    uint64_t bytes = 0;
  };
  std::map<const void*, Variable> variables;

  // What it did.
  std::string text;          // of the recording, since it was last taken
  std::string* out = &text;  // or a graph that is being captured
  std::map<uint64_t, Range> device, host;
  uint64_t next = 0, used = 0;
  uint64_t noise = 1;  // of what is read back
  int64_t events = 0;
  int last_error = kSuccess;
  std::map<uint64_t, std::string> graphs;
  uint64_t handles = 0;
  void (*at_end)() = nullptr;  // before the process is ended for doing too much
};

State& state();

/// Adds one line; what is too much becomes a refusal.
void write_line(const std::string& line);
/// Nothing that comes after this can be played back.
int refuse(const std::string& why);
int fail(int code);
std::string hex(const void* bytes, size_t count);
uint64_t as_number(const void* pointer);
void* new_handle();
bool on_device(const void* pointer);
/// Fills host memory with what nobody can have computed.
void fill_with_noise(void* to, size_t bytes);

}  // namespace kw::recorder

#define KW_RECORDED extern "C" __attribute__((visibility("default")))
