// Where does a kernel lose time? Its time is work that the task needs, extra work, and idle time.
//   gap of memory  = (busy share - share for the least traffic) * (busy share / larger share)^2
//   gap of compute = the same for arithmetic
//   gap of latency = 1 - the larger of the two busy shares
// An elementwise kernel at 93 % of the memory's rate has nothing to gain. The alternative, a gap of
// 1 - utilisation per axis, would call it compute-bound because its arithmetic idles. The cost: the
// least traffic and the least arithmetic of the task must be known.
#include "profile/roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::profile {
namespace {

using Share = std::optional<double>;

constexpr double kBusy = 0.6;         // a unit this busy can be the limit
constexpr double kClearly = 0.1;      // a unit this much busier is clearly the busier one
constexpr double kMostlyDram = 0.9;   // of the memory system's busiest part
constexpr double kFewWarps = 30;      // percent of the warps that an SM holds
constexpr double kMuchWaiting = 0.4;  // of a warp's time, for one reason
constexpr double kLaunchBound = 2;    // times an empty launch
constexpr double kEfficient = 0.85;   // of the floor's rate

double clamp01(double value) { return std::clamp(value, 0.0, 1.0); }

/// The largest known percentage, as a share.
Share busiest(const MetricSet& metrics, std::initializer_list<const char*> ids, std::string& by) {
  Share most;
  for (const char* id : ids) {
    const auto value = metrics.get(id);
    if (!value || (most && clamp01(*value / 100) <= *most)) continue;
    most = clamp01(*value / 100);
    by = id;
  }
  return most;
}

/// How busy a unit is. If not exact, the share is a lower bound.
struct Busy {
  Share share;
  bool exact = false;
};

class Analysis {
 public:
  Analysis(const MetricSet& metrics, const TimeFloor& floor, const Ceilings& ceilings)
      : metrics_(metrics), floor_(floor), ceilings_(ceilings) {}

  Roofline run(std::optional<double> time_us) {
    out_.floor_us = floor_.us();
    out_.time_us = time_us ? time_us : metrics_.get("duration_us");
    if (out_.time_us && !(*out_.time_us > 0)) out_.time_us.reset();
    if (!out_.time_us) model_time();
    const Busy compute = compute_busy(), memory = memory_busy();
    out_.compute_busy = compute.share;
    out_.memory_busy = memory.share;
    both_seen_ = compute.exact && memory.exact;
    gaps(compute, memory);
    decide_near_peak();
    out_.bottleneck = bottleneck();
    if (!out_.near_peak) out_.budget = axis_budget(out_.gaps);
    return std::move(out_);
  }

 private:
  void say(std::string reason) { out_.reasons.push_back(std::move(reason)); }

  /// Bytes the kernel moves: measured, or counted as if there were no cache.
  std::optional<double> traffic() const {
    if (const auto bytes = metrics_.get("dram_bytes")) return bytes;
    const auto loads = metrics_.get("global_load_sectors");
    const auto stores = metrics_.get("global_store_sectors");
    if (!loads || !stores) return std::nullopt;
    return 32 * (*loads + *stores);
  }

  std::optional<double> traffic_us() const {
    const auto bytes = traffic();
    if (!bytes || ceilings_.gigabytes <= 0) return std::nullopt;
    return *bytes / ceilings_.gigabytes * 1e-3;
  }

  /// The time needed to issue the instructions. One multiply-add of a warp is 64 operations.
  std::optional<double> issue_us() const {
    const auto instructions = metrics_.get("warp_instructions");
    if (!instructions || ceilings_.fp32_tera <= 0) return std::nullopt;
    return *instructions * 64 / ceilings_.fp32_tera * 1e-6;
  }

  // If no time was measured, assume the time that the kernel's own traffic and instructions need.
  // This estimate ignores waiting.
  void model_time() {
    const auto moving = traffic_us(), issuing = issue_us();
    const double us =
        std::max({moving.value_or(0), issuing.value_or(0), floor_.compute_us.value_or(0)});
    if ((!moving && !issuing) || !(us > 0)) return;
    model_us_ = us;
    out_.estimated = true;
    say(fmt::format("no time was measured; by its counts it would take {:.4g} us", us));
  }

  Share of_time(std::optional<double> us) const {
    const auto time = out_.time_us ? out_.time_us : model_us_;
    return us && time ? Share(clamp01(*us / *time)) : std::nullopt;
  }

  Busy compute_busy() {
    std::string by;
    Share share = busiest(metrics_,
                          {"tensor_pipe_pct", "tensor_int_pipe_pct", "fma_pipe_pct",
                           "fp64_pipe_pct", "sm_throughput_pct"},
                          by);
    const char* how = "by hardware counters";
    if (!share) {
      share = of_time(issue_us());
      by = "warp_instructions";
      how = "by counted instructions";
      // Matrix instructions do far more work per issue than this formula counts.
      if (share && metrics_.get("tensor_flops").value_or(0) > 0) share.reset();
    }
    return busy("arithmetic", share, by, how, floor_.compute_us);
  }

  Busy memory_busy() {
    std::string by;
    Share share = busiest(
        metrics_,
        {"memory_throughput_pct", "dram_throughput_pct", "l2_throughput_pct", "l1_throughput_pct"},
        by);
    const char* how = "by hardware counters";
    if (!share) {
      share = of_time(traffic_us());
      by = "traffic";
      how = "by counted bytes at the measured rate";
    }
    return busy("memory", share, by, how, floor_.memory_us);
  }

  Busy busy(const char* what, const Share& share, const std::string& by, const char* how,
            const std::optional<double>& least) {
    if (share) {
      say(fmt::format("{} busy {:.0f} % of its peak, {} ({})", what, 100 * *share, how, by));
      return {share, true};
    }
    const Share needed = of_time(least);
    if (needed)
      say(fmt::format("{} busy at least {:.0f} %: what the task needs", what, 100 * *needed));
    return {needed, false};
  }

  void gaps(const Busy& compute, const Busy& memory) {
    const double most = std::max(compute.share.value_or(0), memory.share.value_or(0));
    const auto excess = [&](const Busy& busy, const std::optional<double>& least) -> Share {
      const Share needed = of_time(least);
      if (!busy.exact || !needed) return std::nullopt;
      const double weight = most > 0 ? *busy.share / most : 0;
      return std::max(0.0, *busy.share - *needed) * weight * weight;
    };
    out_.gaps.compute = excess(compute, floor_.compute_us);
    out_.gaps.memory = excess(memory, floor_.memory_us);
    if (!out_.estimated) out_.gaps.latency = idle(compute, memory);
    say_gap("compute", out_.gaps.compute);
    say_gap("memory", out_.gaps.memory);
    say_gap("latency", out_.gaps.latency);
  }

  // A unit that was not measured may be busy all the time. One known unit only gives an upper bound
  // of the idle time.
  Share idle(const Busy& compute, const Busy& memory) const {
    if (!compute.share && !memory.share) return dominant_stall();
    const double most = 1 - std::max(compute.share.value_or(0), memory.share.value_or(0));
    return (compute.exact && memory.exact) || most < kNegligible ? Share(most) : dominant_stall();
  }

  void say_gap(const char* axis, const Share& gap) {
    if (!gap) say(fmt::format("gap of {}: unknown, so it gets no method", axis));
  }

  /// The largest share of waiting for one reason. Waiting for a busy unit does not count.
  Share dominant_stall() const {
    Share most;
    for (const auto& [id, known] : metrics_.all()) {
      if (!id.starts_with("stall_") || id == "stall_math_pipe_throttle_pct") continue;
      most = std::max(most.value_or(0), clamp01(known.value / 100));
    }
    return most;
  }

  // Unknown gaps prove nothing: the limiting unit must be one of the known ones.
  void decide_near_peak() {
    if (out_.time_us && out_.floor_us && *out_.time_us <= *out_.floor_us / kEfficient) {
      out_.near_peak = true;
      say(fmt::format("{:.4g} us is within {:.0f} % of the floor, {:.4g} us", *out_.time_us,
                      100 * kEfficient, *out_.floor_us));
      return;
    }
    const bool by_memory = out_.memory_busy.value_or(0) >= out_.compute_busy.value_or(0);
    const Share& limiting = by_memory ? out_.gaps.memory : out_.gaps.compute;
    if (!limiting || !out_.gaps.latency) return;
    const auto small = [](const Share& gap) { return !gap || *gap < kNearPeak; };
    out_.near_peak =
        small(out_.gaps.compute) && small(out_.gaps.memory) && small(out_.gaps.latency);
    if (out_.near_peak) say(fmt::format("every known gap is below {}", kNearPeak));
  }

  Bottleneck bottleneck() const {
    const auto launch_share = metrics_.get("launch_overhead_pct");
    const bool short_call =
        out_.time_us && floor_.launch_us > 0 && *out_.time_us < kLaunchBound * floor_.launch_us;
    if (short_call || (launch_share && *launch_share > 100 / kLaunchBound))
      return Bottleneck::Launch;
    const double compute = out_.compute_busy.value_or(0), memory = out_.memory_busy.value_or(0);
    if (std::max(compute, memory) < kBusy) return waiting();
    if (compute > memory + kClearly) return Bottleneck::Compute;
    if (memory > compute + kClearly) return memory_kind(memory);
    return Bottleneck::Mixed;
  }

  Bottleneck memory_kind(double memory) const {
    const auto dram = metrics_.get("dram_throughput_pct");
    if (!dram) return metrics_.knows("l1_throughput_pct") ? Bottleneck::Cache : Bottleneck::Dram;
    return *dram / 100 >= kMostlyDram * memory ? Bottleneck::Dram : Bottleneck::Cache;
  }

  // A unit with only a lower bound may be busy all the time, unless the stall reasons say
  // otherwise.
  Bottleneck waiting() const {
    if (out_.estimated) return Bottleneck::Unknown;
    if (!both_seen_ && dominant_stall().value_or(0) < kMuchWaiting) return Bottleneck::Unknown;
    const auto below = [&](const char* id, double limit) {
      const auto value = metrics_.get(id);
      return value && *value < limit;
    };
    const bool few = metrics_.knows("occupancy_pct")
                         ? below("occupancy_pct", kFewWarps)
                         : below("theoretical_occupancy_pct", kFewWarps);
    return few || below("waves", 0.5) || below("sm_active_pct", 50) ? Bottleneck::Occupancy
                                                                    : Bottleneck::Latency;
  }

  const MetricSet& metrics_;
  const TimeFloor& floor_;
  const Ceilings& ceilings_;
  std::optional<double> model_us_;
  bool both_seen_ = false;  // neither unit's share is only a lower bound
  Roofline out_;
};

constexpr const char* kBottlenecks[] = {"unknown", "DRAM",      "L1/L2",  "latency",
                                        "compute", "occupancy", "launch", "mixed"};

}  // namespace

std::optional<double> TimeFloor::us() const {
  if (!compute_us && !memory_us) return std::nullopt;
  return std::max({compute_us.value_or(0), memory_us.value_or(0), launch_us});
}

TimeFloor time_floor(double flops, double bytes_min, const Ceilings& ceilings) {
  TimeFloor floor;
  if (flops <= 0)
    floor.compute_us = 0;
  else if (ceilings.tera_flops > 0)
    floor.compute_us = flops / ceilings.tera_flops * 1e-6;
  if (bytes_min <= 0)
    floor.memory_us = 0;
  else if (ceilings.gigabytes > 0)
    floor.memory_us = bytes_min / ceilings.gigabytes * 1e-3;
  floor.launch_us = ceilings.launch_us;
  return floor;
}

const char* bottleneck_name(Bottleneck bottleneck) {
  return kBottlenecks[static_cast<size_t>(bottleneck)];
}

Roofline roofline(const MetricSet& metrics, const TimeFloor& floor, const Ceilings& ceilings,
                  std::optional<double> time_us) {
  return Analysis(metrics, floor, ceilings).run(time_us);
}

void fields(auto& v, AxisBudget& b) {
  v("compute", b.compute)("memory", b.memory)("latency", b.latency);
}

void fields(auto& v, Roofline& r) {
  v("delta_compute", r.gaps.compute)("delta_memory", r.gaps.memory);
  v("delta_latency", r.gaps.latency)("compute_busy", r.compute_busy)("memory_busy", r.memory_busy);
  v("time_us", r.time_us)("floor_us", r.floor_us)("estimated", r.estimated);
  v("near_peak", r.near_peak)("bound", r.bottleneck, kBottlenecks, required);
  v("axis_budget", r.budget)("reasons", r.reasons);
}

Json to_json(const Roofline& roofline) { return record_json(roofline); }
Result<Roofline> roofline_from_json(const Json& json) { return check_record<Roofline>(json); }

Json history_row(int iteration, const Roofline& r) {
  JsonWriter row;
  row("iter", iteration)("delta_compute", r.gaps.compute)("delta_memory", r.gaps.memory);
  row("delta_latency", r.gaps.latency)("bound", r.bottleneck, kBottlenecks);
  row("near_peak", r.near_peak)("axis_budget", r.budget);
  return row.take();
}

}  // namespace kw::profile
