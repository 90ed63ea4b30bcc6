#include "profile/call.h"

#include <algorithm>

#include "catalog/metric.h"
#include "core/check.h"

namespace kw::profile {
namespace {

enum class Joined : uint8_t { Sum, Average, Any, Dearest };

Joined joined(const catalog::Metric& metric) {
  switch (metric.unit) {
    case catalog::Unit::Flag:
      return Joined::Any;
    case catalog::Unit::Microseconds:
      return Joined::Sum;
    case catalog::Unit::Count:
      return metric.counted ? Joined::Sum : Joined::Dearest;
    case catalog::Unit::Bytes:
      // Metrics that profilers count are totals. The others are bytes per thread or per block.
      return metric.counted && !metric.ncu.empty() ? Joined::Sum : Joined::Dearest;
    case catalog::Unit::Percent:
    case catalog::Unit::Ratio:
      break;
  }
  return metric.counted ? Joined::Average : Joined::Dearest;
}

void join_metric(const std::string& id, const std::vector<LaunchMetrics>& launches, size_t dearest,
                 MetricSet& call) {
  const catalog::Metric* metric = catalog::find_metric(id);
  KW_CHECK(metric != nullptr, "no such metric: " + id);
  const Known* most = launches[dearest].metrics.find(id);
  const Joined how = joined(*metric);
  if (how == Joined::Dearest) {
    if (most != nullptr) call.set(id, most->value, most->source, most->from);
    return;
  }
  double sum = 0, weight = 0, any = 0;
  MetricSource weakest = MetricSource::Ncu;
  std::string from;
  bool all = true;
  for (const LaunchMetrics& launch : launches) {
    const Known* known = launch.metrics.find(id);
    if (known == nullptr) {
      all = false;
      continue;
    }
    const double share = how == Joined::Average ? launch.us : 1;
    sum += known->value * share;
    weight += share;
    any = std::max(any, known->value);
    weakest = std::min(weakest, known->source);
    from = known->from;
  }
  if (how == Joined::Any) {
    if (all || any > 0) call.set(id, any, weakest, from);
  } else if (all && how == Joined::Sum) {
    call.set(id, sum, weakest, from);
  } else if (all && weight > 0) {
    call.set(id, sum / weight, weakest, from);
  }
}

}  // namespace

size_t longest_launch(const std::vector<LaunchMetrics>& launches) {
  const auto most = std::ranges::max_element(launches, {}, &LaunchMetrics::us);
  return most == launches.end() ? 0 : static_cast<size_t>(most - launches.begin());
}

MetricSet metrics_of_call(const std::vector<LaunchMetrics>& launches) {
  if (launches.empty()) return {};
  if (launches.size() == 1) return launches[0].metrics;
  const size_t dearest = longest_launch(launches);
  MetricSet call;
  call.kernel = launches[dearest].metrics.kernel;
  for (const catalog::Metric& metric : catalog::metrics())
    join_metric(metric.id, launches, dearest, call);
  return call;
}

void scale_counts(MetricSet& metrics, double scale, const std::string& counted_at) {
  if (scale == 1) return;
  const auto known = metrics.all();
  for (const auto& [id, value] : known) {
    const catalog::Metric* metric = catalog::find_metric(id);
    if (value.source != MetricSource::Vgpu || metric->unit != catalog::Unit::Count) continue;
    metrics.set(id, value.value * scale, value.source,
                value.from + ", counted at " + counted_at + " and scaled");
  }
}

}  // namespace kw::profile
