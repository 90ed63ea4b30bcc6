// The least time a task can take on a calibrated device, and a check whether a measured time is
// possible. All functions are pure.
#pragma once

#include <string>

#include "core/json.h"
#include "ports/device.h"
#include "record/calibration.h"

namespace kw::clock {

/// The work that every kernel for a task must do at one shape.
struct Work {
  double read_bytes = 0, write_bytes = 0;
  double gathered_bytes = 0;           // part of read_bytes; a gather may read less
  double flops = 0, tensor_flops = 0;  // tensor_flops: matrix products only, part of flops
  std::string product = "fp32";        // precision of the matrix products: "fp16", "tf32", …
  std::string other = "fp32";          // precision of all other arithmetic
  double bytes() const { return read_bytes + write_bytes; }
};

struct Floor {
  double us = 0;  // the largest of memory, compute and launch time
  double memory_us = 0, compute_us = 0;
  double bandwidth = 0;          // GB/s at this ratio of reads to writes
  std::string bound = "memory";  // "memory", "compute" or "launch"
};

/// max(bytes / bandwidth, flops / measured peaks), and at least the time of an empty kernel.
Floor floor_of(const Work& work, const record::Calibration& calibration);

/// Returns why a measured time is impossible, or "". It is impossible if the bytes that must come
/// from memory would exceed the data sheet's bandwidth. Gathered bytes do not count. Tasks of at
/// most 3 times the L2 are never refused. Flops are not checked: a kernel may use algebra to do
/// fewer.
std::string implausible(const Work& work, double us, const ports::DeviceInfo& device);

Json to_json(const Work& work);
Json to_json(const Floor& floor);

}  // namespace kw::clock
