// Raw device times of a program, and where they were taken.
#pragma once

#include <string>
#include <vector>

namespace kw::record {

struct TimingSamples {
  std::string method;               // "events" or "graph"
  std::vector<double> microseconds; // one per timed call, in order
  int sm_clock_mhz = 0;             // read right after the last sample; 0: unknown
  int temperature_c = 0;            // likewise
};

}  // namespace kw::record
