// The inside of a pretended GPU: device memory is host memory, streams are queues of closures that
// run when someone looks, a few kernels are known by name. Faults are as sticky as on a real
// device.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/driver_api.h"

namespace kw::fake {

using cuda::CuDevicePtr;
using cuda::CuResult;

inline constexpr CuResult kEcc = 214;
inline constexpr CuResult kNotFound = 500;
inline constexpr CuResult kIllegalAddress = 700;
inline constexpr CuResult kMisaligned = 716;
inline constexpr CuResult kLaunchFailed = 719;

struct Module {
  std::string text;
  std::map<std::string, std::vector<char>> globals;
};

/// One launch with its parameters copied out of the caller's memory.
struct Launch {
  Module* module = nullptr;
  unsigned grid[3], block[3], shared_bytes = 0;
  unsigned cluster = 1;
  bool cooperative = false;
  std::vector<std::vector<char>> params;

  template <typename T>
  T param(size_t index) const {
    T value{};
    __builtin_memcpy(&value, params[index].data(), sizeof(T));
    return value;
  }
  template <typename T>
  T* pointer(size_t index) const {
    return reinterpret_cast<T*>(param<CuDevicePtr>(index));
  }
  uint64_t threads() const { return uint64_t{grid[0]} * block[0]; }
};

/// A kernel the fake knows. Answers kNotReady to stay in the stream's queue.
struct Kernel {
  std::vector<size_t> param_bytes;
  CuResult (*run)(const Launch& launch);
};
/// nullptr when there is no kernel of that name.
const Kernel* find_kernel(const std::string& name);

struct Function {
  Module* module = nullptr;
  const Kernel* kernel = nullptr;
  int max_dynamic_shared = 49152;
};

using Operation = std::function<CuResult()>;

struct Stream {
  std::deque<Operation> queue;
  std::vector<Operation>* capture = nullptr;
};

struct Device {
  std::recursive_mutex mutex;
  std::map<CuDevicePtr, size_t> allocations;
  std::vector<Stream*> streams;
  size_t used = 0;
  CuResult sticky = 0;  // the fault after which nothing works any more

  /// True when [address, address + bytes) lies in one allocation.
  bool owns(CuDevicePtr address, size_t bytes) const;
  /// Runs what a stream has queued, as far as it goes.
  CuResult drain(Stream& stream);
  /// Everything of all streams, waiting as long as it takes.
  CuResult drain_all();
};
Device& device();

/// A record of the pretended profiling library: kind, then start and end where real ones have them.
struct Stamp {
  uint32_t kind;
  uint8_t rest[12];
  uint64_t start, end;
};
struct Stamps {
  using Requested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
  using Completed = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                             size_t valid);
  Requested requested = nullptr;
  Completed completed = nullptr;
  bool enabled = false;
  std::vector<Stamp> records;
};
Stamps& stamps();
/// Nanoseconds of a steady clock.
uint64_t now();

/// True when $KW_FAKE_CUDA names the fault.
bool asked_for(const char* fault);
/// True while the file $KW_FAKE_SICK exists: every kernel then ends in an uncorrectable memory
/// error.
bool is_sick();
/// What the file $KW_FAKE_CLOCK says, 1980 without one. Lines are readings, one after another; the
/// last stays.
unsigned sm_clock_mhz();

}  // namespace kw::fake
