// Everything known about one kernel, gathered for those that decide what to try next.
#pragma once

#include <string>
#include <vector>

#include "profile/metric_set.h"
#include "profile/roofline.h"
#include "profile/sass.h"

namespace kw::profile {

/// Everything known about one kernel at the shape that counts.
struct Examined {
  MetricSet metrics;                  // of its most expensive launch
  Roofline roofline;                  // of the whole call
  std::vector<std::string> launches;  // of the call, each with its geometry
  bool counters = false;              // hardware counters were read
  std::string no_counters;            // why not, with the way out
  std::string ncu_report;             // path of the .ncu-rep that was written; "" when none
  std::vector<SassFunction> sass;
  std::string no_sass;  // why there is no machine code; "" when there is
};

}  // namespace kw::profile
