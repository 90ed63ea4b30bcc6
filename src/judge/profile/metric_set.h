// What is known about one kernel, by canonical metric, and who said it. What is missing is unknown,
// never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace kw::profile {

/// Who said it. Hardware counters outweigh exact counts of the virtual GPU, these what is known
/// without running.
enum class Source : uint8_t { Static, Vgpu, Ncu };
const char* source_name(Source source);

struct Known {
  double value = 0;  // in the metric's unit; flags are 0 or 1
  Source source = Source::Static;
  std::string from;  // the column, counter or formula it was made of
};

class MetricSet {
 public:
  std::string kernel;
  std::vector<std::string> notes;  // what was left out, and why

  /// Overwrites. A value that is not finite leaves the metric unknown. `id` must be canonical.
  void set(std::string_view id, double value, Source source, std::string from);
  void set_flag(std::string_view id, bool value, Source source, std::string from);

  std::optional<double> get(std::string_view id) const;
  /// Of a flag.
  std::optional<bool> is(std::string_view id) const;
  const Known* find(std::string_view id) const;
  bool knows(std::string_view id) const { return find(id) != nullptr; }
  /// All that is known, by id.
  const std::map<std::string, Known>& all() const { return values_; }

  /// Adds what another set knows; where both know, the better source wins. derive() sees the union.
  void merge(const MetricSet& other);
  /// Fills in what follows from other values and is not there itself: ratios of counts, the tail of
  /// the last wave, what limits occupancy.
  void derive();

 private:
  std::map<std::string, Known> values_;
};

Json to_json(const MetricSet& metrics);

}  // namespace kw::profile
