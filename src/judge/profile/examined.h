// Everything known about one kernel, collected for the code that decides what to try next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
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

/// Collects the evidence. Kernels are texts of modules.
class Examiner {
 public:
  virtual ~Examiner() = default;
  /// `us`: as timed. `report`: path for the profiler's report; "": not kept.
  virtual Result<Examined> evidence(const std::string& kernel, std::optional<double> us,
                                    const std::string& report) = 0;
  /// Only the machine code; not set when no tool here can show it.
  virtual Result<std::optional<std::vector<SassFunction>>> machine_code(
      const std::string& kernel) = 0;
};

}  // namespace kw::profile
