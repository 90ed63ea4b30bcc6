// How far a kernel is from the least time of its task on its device, and on which axis it loses
// time. Pure functions of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "profile/metric_set.h"

namespace kw::profile {

/// The least time of a task by what limits it, in us. Not set: unknown.
struct TimeFloor {
  std::optional<double> compute_us, memory_us;
  double launch_us = 0;  // an empty launch; 0: unknown

  /// The largest of the three; not set when neither of the first two is known.
  std::optional<double> us() const;
};

/// The rates measured on a device; 0: not measured.
struct Ceilings {
  double tera_flops = 0;  // at the task's precision
  double fp32_tera = 0;   // of fp32 multiply-adds: the rate at which instructions issue
  double gigabytes = 0;   // per second, at the task's mix of reads and writes
  double launch_us = 0;
};
TimeFloor time_floor(double flops, double bytes_min, const Ceilings& ceilings);

enum class Bottleneck : uint8_t {
  Unknown,
  Dram,
  Cache,
  Latency,
  Compute,
  Occupancy,
  Launch,
  Mixed
};
/// "DRAM", "L1/L2", "latency" …
const char* bottleneck_name(Bottleneck bottleneck);

/// Methods to try per axis.
struct AxisBudget {
  int compute = 0, memory = 0, latency = 0;
  bool operator==(const AxisBudget&) const = default;
  int of(const std::string& axis) const;
};

/// Shares of the time, each from 0 to 1; not set: no evidence. The first two are arithmetic and
/// traffic beyond what the task needs. The last is time when neither unit is busy.
struct Gaps {
  std::optional<double> compute, memory, latency;
};

inline constexpr int kBudget = 3, kAxisCap = 2;
inline constexpr double kNegligible = 0.10;  // smaller gaps get no method
inline constexpr double kNearPeak = 0.15;    // all gaps smaller: no gain is possible

/// At most kBudget methods, at most kAxisCap on one axis, in proportion to the gaps. Small and
/// unknown gaps get none.
AxisBudget axis_budget(const Gaps& gaps);

struct Roofline {
  Gaps gaps;
  std::optional<double> compute_busy, memory_busy;  // of the unit's peak, 0 to 1
  std::optional<double> time_us, floor_us;
  bool estimated = false;  // no time was measured: these are shares of an estimated time
  bool near_peak = false;
  Bottleneck bottleneck = Bottleneck::Unknown;
  AxisBudget budget;
  std::vector<std::string> reasons;  // how each number was computed
};

/// `time_us`: measured by the clock; otherwise the time in the metrics is used. `ceilings` and
/// `floor` must be of the same device.
Roofline roofline(const MetricSet& metrics, const TimeFloor& floor, const Ceilings& ceilings,
                  std::optional<double> time_us);

Json to_json(const Roofline& roofline);
/// Input Error: there is no such bottleneck.
Result<Roofline> roofline_from_json(const Json& json);
/// One row of the table of gaps by iteration: iter, delta_compute, delta_memory, delta_latency,
/// bound, near_peak, axis_budget.
Json history_row(int iteration, const Roofline& roofline);

}  // namespace kw::profile
