// Estimates a candidate's time before a GPU runs it: counts of the virtual GPU, scaled to the timed
// shape, divided by a GPU's rates, with the effects of occupancy and waves. Orders candidates. A
// pure function; the result is never called measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "core/json.h"
#include "record/calibration.h"
#include "record/counters.h"
#include "timing/estimate.h"

namespace kw::timing {

/// One launch at the timed shape.
struct CostLaunch {
  record::CounterValues counted;  // at a smaller shape
  uint64_t blocks = 1;
  int threads = 1;
  int registers = -1;  // per thread; -1: unknown
  int64_t shared_bytes = 0;
  double readable_bytes = 0;  // of all its buffers
  double writable_bytes = 0;  // of its buffers that are not inputs
  double growth = 0;          // its own scale, if not the task's; otherwise 0
};

struct CostRequest {
  std::vector<CostLaunch> launches;
  double scale = 1;  // from the counted shape to the timed one, by work
  arch::Target target{};
  const record::Calibration* gpu = nullptr;  // never null
  GpuRates rates;
};

struct CostPart {
  double us = 0;
  double memory_us = 0, l2_us = 0, issue_us = 0, pipe_us = 0, shared_us = 0, compute_us = 0;
  double occupancy = 0;  // share of an SM's threads
  double waves = 0;      // rounds of blocks over the whole GPU
  double hiding = 1;     // share of the bandwidth that the bytes in flight reach
  double tail = 1;       // time relative to full waves
  std::string bound;
};

struct Cost {
  double us = 0;  // of all launches
  std::vector<CostPart> launches;
};

Cost cost_of(const CostRequest& request);
Json to_json(const Cost& cost);

}  // namespace kw::timing
