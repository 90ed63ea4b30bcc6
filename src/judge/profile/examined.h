// Everything known about one kernel, collected for the code that decides what to try next.
#pragma once

#include <string>
#include <vector>

#include "profile/metric_set.h"
#include "profile/roofline.h"
#include "profile/sass.h"

namespace kw::profile {

/// Everything known about one kernel at the shape that is timed.
struct Examined {
  MetricSet metrics;                  // of its longest launch
  Roofline roofline;                  // of the whole call
  std::vector<std::string> launches;  // of the call, each with its grid and block
  bool counters = false;              // hardware counters were read
  std::string no_counters;            // why not, and what the user can do
  std::string ncu_report;             // path of the .ncu-rep file; "" when none was written
  std::vector<SassFunction> sass;
  std::string no_sass;  // why there is no machine code; "" when there is some
};

}  // namespace kw::profile
