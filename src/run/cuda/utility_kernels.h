// kernelwright's own small kernels: a canary that proves the device computes, the L2 sweeps, and
// the gate that holds a stream until all work behind it is queued. PTX text, compiled by the driver
// once per context.
#pragma once

#include <memory>

#include "cuda/context.h"
#include "cuda/image.h"
#include "cuda/jobs.h"

namespace kw::cuda {

class UtilityKernels {
 public:
  /// Environment Error when the driver rejects our own PTX.
  static Result<std::unique_ptr<UtilityKernels>> load(const Context& context);
  ~UtilityKernels();
  UtilityKernels(const UtilityKernels&) = delete;
  UtilityKernels& operator=(const UtilityKernels&) = delete;

  JobKernels& jobs() { return *jobs_; }

  /// Runs a kernel with a known result and compares every word of it.
  MaybeFault canary(const Deadline& deadline);

  /// Queues a write and then a read of twice the L2, so that it holds none of our data and no dirty
  /// lines.
  MaybeFault enqueue_sweep();

  /// Queues a kernel that waits for open_gate(), at most 50 ms, so that a full queue cannot
  /// deadlock.
  MaybeFault enqueue_gate();
  void open_gate();
  /// True when the last gate gave up waiting: then the measured time includes launch latency.
  bool gate_gave_up() const;

 private:
  explicit UtilityKernels(const Context& context) : context_(context) {}
  MaybeFault launch(const char* entry, unsigned blocks, unsigned threads, void** params);

  const Context& context_;
  std::unique_ptr<LoadedImage> image_;
  std::unique_ptr<JobKernels> jobs_;
  DeviceMemory sweep_;
  DeviceMemory sink_;
  volatile uint32_t* gate_ = nullptr;  // pinned: [0] ticket let through, [1] ticket given up
  CuDevicePtr gate_on_device_ = 0;
  uint32_t ticket_ = 0;
};

}  // namespace kw::cuda
