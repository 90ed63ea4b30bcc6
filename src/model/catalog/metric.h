// The metrics that conditions of the catalog may use, and their names in profilers. The values are
// in profile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "core/json.h"

namespace kw::catalog {

enum class Unit : uint8_t { Percent, Microseconds, Bytes, Count, Ratio, Flag };
/// "%", "us", "bytes", "count", "ratio", "flag".
const char* unit_name(Unit unit);

struct Metric {
  enum class Better : uint8_t { High, Low, Neither };
  /// How to combine several columns of one profile that mean this metric.
  enum class Combine : uint8_t { First, Max, Sum };
  std::string id, title;
  Unit unit = Unit::Ratio;
  Better better = Better::Neither;
  Combine combine = Combine::First;
  std::vector<std::string> ncu;     // columns of the raw page, preferred first
  std::vector<std::string> labels;  // names on the details page, newer and older
  std::vector<std::string> vgpu;    // counters of the virtual GPU that it is computed from
  bool counted = true;              // counted while the kernel runs; false: known from the launch
};

inline constexpr const char* kUnitNames[] = {"%", "us", "bytes", "count", "ratio", "flag"};
inline constexpr const char* kBetterNames[] = {"high", "low", "neither"};
inline constexpr const char* kCombineNames[] = {"first", "max", "sum"};
/// In the catalog's TOML; the JSON has all but the last two.
void fields(auto& v, Metric& m) {
  v("id", m.id, required)("title", m.title, required)("unit", m.unit, kUnitNames, required);
  v("better", m.better, kBetterNames, required)("ncu", m.ncu)("labels", m.labels)("vgpu", m.vgpu);
  v("combine", m.combine, kCombineNames, When{false})("counted", m.counted, When{false});
}

/// All canonical metrics in the order of the file.
std::span<const Metric> metrics();
const Metric* find_metric(std::string_view id);

Json to_json(const Metric& metric);

}  // namespace kw::catalog
