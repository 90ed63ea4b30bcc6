// Shows metrics, roofline and plan as plain text for the user.
#pragma once

#include <string>

#include "profile/method_plan.h"

namespace kw::profile {

/// The known metrics, grouped by source. Flags are listed by name.
std::string metrics_text(const MetricSet& metrics);
/// Gaps, bottleneck, budget, and how each number was computed.
std::string roofline_text(const Roofline& roofline);
/// The chosen methods with their reasons, and why methods of higher priority were not chosen. Then
/// the methods that are undecided because a metric is missing.
std::string plan_text(const Plan& plan);

}  // namespace kw::profile
