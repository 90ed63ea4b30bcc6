// What a condition of the catalogue is worth for measured values: a strength from 0 to 1, or
// unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/expression.h"
#include "profile/metric_set.h"

namespace kw::profile {

struct Strength {
  std::optional<double> value;  // nothing: the evidence is missing; never taken for 0
  std::vector<std::string>
      reasons;  // one per clause that was looked at: "stall_barrier_pct 22 % (> 5 worst 30): 0.68"
  std::vector<std::string> missing;  // metrics that nobody measured
};

/// docs/catalog.md says how clauses combine.
Strength strength_of(const catalog::Expression& condition, const MetricSet& metrics);

/// A number as reports show it, with its unit: "22 %", "1.5 MB", "yes".
std::string value_text(const std::string& metric, double value);

}  // namespace kw::profile
