// The least time a task can take on a calibrated device, and whether a measured time can be true.
// Pure functions of numbers.
#pragma once

#include <string>

#include "core/json.h"
#include "ports/device.h"
#include "record/calibration.h"

namespace kw::clock {

/// What a task cannot avoid at one shape.
struct Work {
  double read_bytes = 0, write_bytes = 0;
  double gathered_bytes = 0;           // the part of the reads that may be fewer
  double flops = 0, tensor_flops = 0;  // the latter, in products of matrices, counted in flops too
  std::string product = "fp32";        // precision of these products: "fp16", "tf32", …
  std::string other = "fp32";          // of everything else
  double bytes() const { return read_bytes + write_bytes; }
};

struct Floor {
  double us = 0;  // the larger of the two
  double memory_us = 0, compute_us = 0;
  double bandwidth = 0;          // GB/s at this mix of reads and writes
  std::string bound = "memory";  // or "compute", "launch"
};

/// max(bytes / bandwidth at the mix, flops / measured peaks), never below an empty kernel's time.
Floor floor_of(const Work& work, const record::Calibration& calibration);

/// Why a time is too short to be true, or "": faster than the data sheet's rate allows for bytes
/// that must come from memory. Gathers do not count, nor do tasks that mostly fit in the L2.
/// Arithmetic never makes a time implausible: algebra is legal.
std::string implausible(const Work& work, double us, const ports::DeviceInfo& device);

Json to_json(const Work& work);
Json to_json(const Floor& floor);

}  // namespace kw::clock
