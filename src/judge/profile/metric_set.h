// The metrics known for one kernel, by canonical name, each with its source. A missing metric is
// unknown, never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace kw::profile {

/// Where a value comes from. Hardware counters override counts of the virtual GPU. Those override
/// what is known without running.
enum class MetricSource : uint8_t { Static, Vgpu, Ncu };
const char* source_name(MetricSource source);

struct Known {
  double value = 0;  // in the metric's unit; flags are 0 or 1
  MetricSource source = MetricSource::Static;
  std::string from;  // the column, counter or formula
};

class MetricSet {
 public:
  std::string kernel;
  std::vector<std::string> notes;  // what was left out and why

  /// Replaces the old value. A value that is not finite is not stored. `id` must be canonical.
  void set(std::string_view id, double value, MetricSource source, std::string from);
  void set_flag(std::string_view id, bool value, MetricSource source, std::string from);

  std::optional<double> get(std::string_view id) const;
  /// The value of a flag.
  std::optional<bool> is(std::string_view id) const;
  const Known* find(std::string_view id) const;
  bool knows(std::string_view id) const { return find(id) != nullptr; }
  /// All known metrics by id.
  const std::map<std::string, Known>& all() const { return values_; }

  /// Adds the metrics of another set. If both know one, the better source wins. Call derive()
  /// afterwards.
  void merge(const MetricSet& other);
  /// Adds the metrics that follow from others and are not known: ratios of counts, the tail of the
  /// last wave, what limits occupancy.
  void derive();

 private:
  std::map<std::string, Known> values_;
};

Json to_json(const MetricSet& metrics);

}  // namespace kw::profile
