// A time for a kernel on a GPU that is not here: what the virtual GPU counted, against the rates of
// a real one. An estimate from a roofline, never a measurement, and always called that.
#pragma once

#include <string>

#include "clock/floor.h"
#include "core/json.h"
#include "record/counters.h"

namespace kw::timing {

/// A GPU's rates as they were measured once, for estimates alone.
const record::Calibration& reference_gpu();

/// What else an estimate needs of that GPU.
struct GpuRates {
  double sms = 132, mhz = 1980;
  double issue = 4;       // warp instructions an SM issues per clock
  double wavefronts = 1;  // of shared memory an SM serves per clock
  double l2_gbps = 5700;
};

struct Estimate {
  std::string gpu;         // whose rates
  std::string counted_at;  // dims
  double scale = 1;        // from these dims to the timed ones, by the task's work
  double us = 0;           // the largest of the parts
  double memory_us = 0, l2_us = 0, issue_us = 0, compute_us = 0, shared_us = 0;
  std::string bound;    // "memory", "l2", "issue", "compute", "shared memory" or "launch"
  clock::Floor floor;   // of the task there
  double l2_bytes = 0;  // sectors times 32, scaled
};

/// `total` of all launches of one call. `launches` is their number.
Estimate estimate(const record::CounterValues& total, size_t launches, const clock::Work& work,
                  double scale);
Json to_json(const Estimate& estimate);

}  // namespace kw::timing
