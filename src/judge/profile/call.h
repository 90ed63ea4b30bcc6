// Metrics of a whole call from those of its launches. Pure functions.
#pragma once

#include <vector>

#include "profile/metric_set.h"

namespace kw::profile {

struct LaunchMetrics {
  MetricSet metrics;
  double us = 0;  // how long it takes, measured or estimated; only the proportions count
};

/// The launch that takes longest; 0 when there is none.
size_t dearest_launch(const std::vector<LaunchMetrics>& launches);

/// What is counted is summed, shares and rates are averaged by time, flags hold when they hold
/// anywhere, and what belongs to one launch (its registers, its grid) is the dearest's. A metric
/// that some launch does not know stays unknown: a part is not the whole.
MetricSet metrics_of_call(const std::vector<LaunchMetrics>& launches);

/// Counts of a smaller shape as those of a larger one: what the virtual GPU counted, times `scale`.
/// Shares and what is known without running stay as they are.
void scale_counts(MetricSet& metrics, double scale, const std::string& counted_at);

}  // namespace kw::profile
