// Raw device times of a program, and how and where they were measured. bench interprets them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::record {

struct TimingSamples {
  std::string method;                // "events" or "graph"
  std::vector<double> microseconds;  // of one call each, in order; overhead_us is subtracted
  int calls_per_sample = 1;          // a graph sample is the mean of this many calls
  int buffer_sets = 1;               // calls rotate over this many sets
  double overhead_us = 0;            // two events in direct succession
  double host_us = 0;                // launch to completion, measured on the host; 0: not measured
  double span_us = 0;                // one call by the profiling library; 0: not requested
  int64_t discarded = 0;             // discarded samples: clock too low, or launches not hidden
  bool clocks_low = false;           // the clock stayed below 3/4 of its default: discarding ended
  int sm_clock_mhz = 0;              // lowest reading during sampling; 0: unknown
  int temperature_c = 0;             // read after the last sample
  int power_w = 0;                   // read after the last sample
};

/// The hashes of the outputs of one timed call.
struct CallAudit {
  int sample = 0;                // index into TimingSamples::microseconds
  int entry = 0;                 // index into the pool of inputs
  std::vector<uint64_t> hashes;  // one per returned buffer, in order
};

}  // namespace kw::record
