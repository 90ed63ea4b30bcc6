// Why warps wait, from the forms in which profilers count it: per issued instruction, or in
// samples. Shares of the whole.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "profile/metric_set.h"

namespace kw::profile {

class StallReader {
 public:
  bool wants(std::string_view column) const;
  void add(std::string_view column, double value);
  /// stall_*_pct from the better of the two forms. Nothing when the whole is not known: a part of a
  /// part is no share.
  std::map<std::string, Known> shares() const;

 private:
  struct Form {
    std::map<std::string, double> reasons;  // "long_scoreboard", "selected" …
  };
  Form per_issue_, samples_;
  double latency_ = 0;  // cycles a warp is resident per instruction it issues
};

}  // namespace kw::profile
