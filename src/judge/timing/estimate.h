// A time on a GPU that is not available: counts of the virtual GPU against the rates of a GPU. An
// estimate from a roofline, never called measured.
#pragma once

#include <string>

#include "clock/floor.h"
#include "core/json.h"
#include "record/counters.h"

namespace kw::timing {

/// The rates of a GPU, measured once; used only for estimates.
const record::Calibration& reference_gpu();

/// Further rates of that GPU.
struct GpuRates {
  double sms = 132, mhz = 1980;
  double issue = 4;       // warp instructions per SM and clock
  double wavefronts = 1;  // of shared memory per SM and clock
  double l2_gbps = 5700;
};

struct Estimate {
  std::string gpu;         // whose rates
  std::string counted_at;  // dims
  double scale = 1;        // from these dims to the timed ones, by work
  double us = 0;           // the largest of the parts
  double memory_us = 0, l2_us = 0, issue_us = 0, compute_us = 0, shared_us = 0;
  std::string bound;    // "memory", "l2", "issue", "compute", "shared memory" or "launch"
  clock::Floor floor;   // of the task on that GPU
  double l2_bytes = 0;  // sectors * 32, scaled
};

/// `total` is the sum over all launches of one call; `launches` is their number.
Estimate estimate(const record::CounterValues& total, size_t launches, const clock::Work& work,
                  double scale);
Json to_json(const Estimate& estimate);

}  // namespace kw::timing
