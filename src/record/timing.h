// Raw device times of a program, and where they were taken.
#pragma once

#include <string>
#include <vector>

namespace kw::record {

struct TimingSamples {
  std::string method;               // "events" or "graph"
  std::vector<double> microseconds; // one per timed call, in order
};

}  // namespace kw::record
