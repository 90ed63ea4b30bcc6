// Whether a kernel has a method: seen in machine code or, if the catalogue has no signature for it,
// in the metrics that it should change. Internal to optimize.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "core/json.h"
#include "profile/metric_set.h"
#include "profile/sass_verdict.h"

namespace kw::optimize {

struct MethodHistory {
  std::string method;
  profile::SassState state = profile::SassState::Unknown;
  std::string why;
  std::string by = "machine_code";             // or "counters"
  std::string compared_with = "nothing";       // "ablated", "parent"
  std::vector<profile::SassCheckResult> rows;  // of the signature
};

/// The condition that triggers a method must be weaker with the method than without it.
MethodHistory seen_by_counters(const catalog::Method& method, const profile::MetricSet& with,
                               const profile::MetricSet& without);

Json to_json(const MethodHistory& sighting);
MethodHistory method_history_of(const Json& json);

}  // namespace kw::optimize
