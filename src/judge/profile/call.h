// Computes the metrics of a whole call from the metrics of its launches. Pure functions.
#pragma once

#include <vector>

#include "profile/metric_set.h"

namespace kw::profile {

struct LaunchMetrics {
  MetricSet metrics;
  double us = 0;  // duration, measured or estimated; only the proportions matter
};

/// Index of the launch that takes longest; 0 when there is no launch.
size_t longest_launch(const std::vector<LaunchMetrics>& launches);

/// Counts are summed. Shares and rates are averaged by time. A flag holds if it holds in any
/// launch. What belongs to one launch (registers, grid) comes from the longest launch. A sum or an
/// average is unknown if it is unknown for any launch.
MetricSet metrics_of_call(const std::vector<LaunchMetrics>& launches);

/// Turns counts of a smaller shape into counts of a larger one: counts of the virtual GPU times
/// `scale`. Shares and what is known without running do not change.
void scale_counts(MetricSet& metrics, double scale, const std::string& counted_at);

}  // namespace kw::profile
