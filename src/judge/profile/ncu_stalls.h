// Why warps wait, as shares of their time. Profilers count stalls per issued instruction or in
// samples.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "profile/metric_set.h"

namespace kw::profile {

class StallReader {
 public:
  bool accepts(std::string_view column) const;
  void add(std::string_view column, double value);
  /// The stall_*_pct metrics from the better of the two forms. Empty when the total is unknown,
  /// because a share needs the total.
  std::map<std::string, Known> shares() const;

 private:
  struct Form {
    std::map<std::string, double> reasons;  // "long_scoreboard", "selected" …
  };
  Form per_issue_, samples_;
  double latency_ = 0;  // cycles a warp is resident per issued instruction
};

}  // namespace kw::profile
