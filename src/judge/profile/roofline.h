// How far a kernel is from what its task needs on its device, and on which side the time goes. Pure
// functions of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "profile/metric_set.h"

namespace kw::profile {

/// The least time a task needs, by what limits it, in us. Nothing: not known.
struct TimeFloor {
  std::optional<double> compute_us, memory_us;
  double launch_us = 0;  // an empty launch; 0: not known

  /// The largest of the three; nothing when neither of the first two is known.
  std::optional<double> us() const;
};

/// What a device was measured to reach; 0: not measured.
struct Ceilings {
  double tera_flops = 0;  // at the task's precision
  double fp32_tera = 0;   // of plain fp32 multiply-adds: how fast instructions can be issued
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

/// Shares of the time, each from 0 to 1; nothing: no evidence. The first two are spent on more
/// arithmetic and more traffic than the task needs, the last is time in which neither unit is busy.
struct Gaps {
  std::optional<double> compute, memory, latency;
};

inline constexpr int kBudget = 3, kAxisCap = 2;
inline constexpr double kNegligible = 0.10;  // gaps below get no method
inline constexpr double kNearPeak = 0.15;    // all gaps below: nothing left to win

/// At most kBudget methods, at most kAxisCap on one axis, in proportion to the gaps; fewer when
/// fewer axes are worth it. Unknown gaps get none.
AxisBudget axis_budget(const Gaps& gaps);

struct Roofline {
  Gaps gaps;
  std::optional<double> compute_busy, memory_busy;  // of the unit's peak, 0 to 1
  std::optional<double> time_us, floor_us;
  bool estimated = false;  // no time was measured: these are shares of a modelled time
  bool near_peak = false;
  Bottleneck bottleneck = Bottleneck::Unknown;
  AxisBudget budget;
  std::vector<std::string> reasons;  // how each number came about, in words
};

/// `time_us`: measured by the clock, else taken from the metrics. `ceilings` and `floor` must be of
/// the same device.
Roofline roofline(const MetricSet& metrics, const TimeFloor& floor, const Ceilings& ceilings,
                  std::optional<double> time_us);

Json to_json(const Roofline& roofline);
/// One line of the drift table: iter, delta_compute, delta_memory, delta_latency, bound, near_peak,
/// axis_budget.
Json history_row(int iteration, const Roofline& roofline);

}  // namespace kw::profile
