// One GPU in this process: its primary context, one stream, its description. A fault cannot be
// undone within a process, so the main process makes none: its workers do, and our shared libraries
// in their host process.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/result.h"
#include "cuda/driver.h"
#include "cuda/fault.h"
#include "cuda/nvml.h"
#include "ports/device.h"

namespace kw::cuda {

/// A point in time, and the seconds it was made from, for messages.
struct Deadline {
  std::chrono::steady_clock::time_point at;
  double seconds = 0;
  bool passed() const { return std::chrono::steady_clock::now() >= at; }
};
Deadline deadline_in(double seconds);

class Context {
 public:
  /// Environment Error when the ordinal does not exist or the device cannot be used.
  static Result<std::unique_ptr<Context>> create(const Driver& driver, int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  const Api& api() const { return driver_.api(); }
  CuStream stream() const { return stream_; }
  CuContext handle() const { return context_; }
  const ports::DeviceInfo& info() const { return info_; }
  bool can_cooperate() const { return attribute(kAttrCooperativeLaunch) != 0; }
  bool can_cluster() const { return attribute(kAttrClusterLaunch) != 0; }
  /// A device attribute; 0 when the driver does not know it.
  int attribute(int id) const;
  uint64_t free_bytes() const;
  /// Clocks and temperature now; zeros without the management library.
  NvmlReading telemetry() const { return nvml_ == nullptr ? NvmlReading{} : nvml_->read(); }
  /// The SM clock alone, which is faster to read; 0 without the library.
  int sm_clock_mhz() const { return nvml_ == nullptr ? 0 : nvml_->sm_clock_mhz(); }

  /// True once the context was lost. From then on no code may wait for the device, so owners of
  /// driver objects do not free them.
  bool lost() const { return lost_; }
  /// Turns the driver's result into a Fault unless it is success.
  MaybeFault check(CuResult code, const std::string& doing) const;
  /// Copies on our stream, after all queued work, and waits. (The driver's synchronous copies are
  /// not ordered with our stream, and may return before the bytes are on the device.)
  MaybeFault upload(CuDevicePtr to, const void* from, uint64_t bytes,
                    const std::string& doing) const;
  MaybeFault download(void* to, CuDevicePtr from, uint64_t bytes, const std::string& doing) const;
  /// Waits for all queued work. After the deadline: Hung, and the context is lost.
  MaybeFault wait(const Deadline& deadline, const std::string& doing) const;

 private:
  explicit Context(const Driver& driver) : driver_(driver) {}
  Status open(int ordinal);
  void describe();
  void describe_memory();

  const Driver& driver_;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  ports::DeviceInfo info_;
  std::unique_ptr<Nvml> nvml_;
  mutable bool lost_ = false;
};

/// Pins host memory during its lifetime, so that the device copies at full speed. If pinning fails,
/// copies are only slower.
class PinnedRange {
 public:
  PinnedRange(const Context& context, void* address, uint64_t bytes);
  ~PinnedRange();
  PinnedRange(const PinnedRange&) = delete;
  PinnedRange& operator=(const PinnedRange&) = delete;

 private:
  const Context& context_;
  void* address_ = nullptr;
};

/// Device memory, freed with its owner.
class DeviceMemory {
 public:
  static FaultOr<DeviceMemory> allocate(const Context& context, uint64_t bytes,
                                        const std::string& what);
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  CuDevicePtr address() const { return address_; }
  uint64_t size() const { return size_; }

 private:
  const Context* context_ = nullptr;
  CuDevicePtr address_ = 0;
  uint64_t size_ = 0;
};

}  // namespace kw::cuda
