// Metrics, roofline and plan as plain text for people.
#pragma once

#include <string>

#include "profile/plan.h"

namespace kw::profile {

/// What is known, grouped by who said it. Flags are listed by name.
std::string metrics_text(const MetricSet& metrics);
/// Gaps, bottleneck, budget, and how each number came about.
std::string roofline_text(const Roofline& roofline);
/// What to try, why, and why not what stands before it; then what could not be decided for want of
/// which metric.
std::string plan_text(const Plan& plan);

}  // namespace kw::profile
