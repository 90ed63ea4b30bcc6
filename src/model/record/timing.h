// Raw device times of a program, how and where they were taken. What they mean is decided elsewhere
// (bench).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw::record {

struct TimingSamples {
  std::string method;                // "events" or "graph"
  std::vector<double> microseconds;  // of one call each, in order; overhead_us is already taken off
  int calls_per_sample = 1;          // a graph sample is the mean of so many calls
  int buffer_sets = 1;               // calls rotate over so many
  double overhead_us = 0;            // between two events with nothing between them
  double host_us = 0;                // launch to completion as the host sees it; 0: not measured
  double span_us = 0;                // of one call by the profiling library's stamps; 0: not asked
  int64_t discarded = 0;             // samples thrown away: clock too low, or launches not hidden
  bool clocks_low = false;  // it stayed below three quarters of its default: nothing was discarded
                            // any more
  int sm_clock_mhz = 0;     // lowest reading while sampling; 0: unknown
  int temperature_c = 0;    // read after the last sample
  int power_w = 0;          // likewise
};

/// The hashes of what one timed call wrote.
struct CallAudit {
  int sample = 0;                // index into TimingSamples::microseconds
  int entry = 0;                 // of the pool of inputs it was given
  std::vector<uint64_t> hashes;  // one per buffer the program returns, in their order
};

}  // namespace kw::record
