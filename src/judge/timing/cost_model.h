// A guess at a candidate's time before anybody ran it on a GPU: what the virtual GPU counted,
// scaled to the timed shape, against a GPU's rates, launch by launch, with what occupancy and waves
// cost. Orders candidates; a pure function of numbers, and never called a measurement.
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
  int registers = -1;  // per thread; -1: not known
  int64_t shared_bytes = 0;
  double readable_bytes = 0;  // of all buffers it is given
  double writable_bytes = 0;  // of those that are not inputs
  double growth = 0;          // from what was counted, where that is not the task's
};

struct CostRequest {
  std::vector<CostLaunch> launches;
  double scale = 1;  // from what was counted to the timed shape, by the task's work
  arch::Target target{};
  const record::Calibration* gpu = nullptr;  // never null
  GpuRates rates;
};

struct CostPart {
  double us = 0;
  double memory_us = 0, l2_us = 0, issue_us = 0, pipe_us = 0, shared_us = 0, compute_us = 0;
  double occupancy = 0;  // share of an SM's threads
  double waves = 0;      // rounds of blocks over the whole GPU
  double hiding = 1;     // share of the bandwidth that so many bytes in flight can use
  double tail = 1;       // time over that of full waves
  std::string bound;
};

struct Cost {
  double us = 0;  // of all launches
  std::vector<CostPart> launches;
};

Cost cost_of(const CostRequest& request);
Json to_json(const Cost& cost);

}  // namespace kw::timing
