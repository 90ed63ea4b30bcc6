// Evaluates a condition of the catalogue for measured values: a strength from 0 to 1, or unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/expression.h"
#include "profile/metric_set.h"

namespace kw::profile {

struct Strength {
  std::optional<double> value;  // not set: evidence is missing; never treated as 0
  std::vector<std::string>
      reasons;  // one per evaluated clause: "stall_barrier_pct 22 % (> 5 worst 30): 0.68"
  std::vector<std::string> missing;  // metrics that were not measured
};

/// docs/catalog.md says how clauses combine.
Strength strength_of(const catalog::Expression& condition, const MetricSet& metrics);

/// A number with its unit as reports show it: "22 %", "1.5 MB", "yes".
std::string value_text(const std::string& metric, double value);

}  // namespace kw::profile
