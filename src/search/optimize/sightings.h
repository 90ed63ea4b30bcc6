// Whether a method is there: in machine code, or, where the catalogue does not know how it shows,
// in what it should have changed. Internal to optimize.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "core/json.h"
#include "profile/metric_set.h"
#include "profile/sass_verdict.h"

namespace kw::optimize {

struct Sighting {
  std::string method;
  profile::SassState state = profile::SassState::Unknown;
  std::string why;
  std::string by = "machine_code";          // or "counters"
  std::string compared_with = "nothing";    // "ablated", "parent"
  std::vector<profile::SassSighting> rows;  // of the signature
};

/// The condition that speaks for a method must hold less with it than without it.
Sighting seen_by_counters(const catalog::Method& method, const profile::MetricSet& with,
                          const profile::MetricSet& without);

Json to_json(const Sighting& sighting);
Sighting sighting_of(const Json& json);

}  // namespace kw::optimize
