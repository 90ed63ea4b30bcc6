#include "profile/profile_text.h"

#include <gtest/gtest.h>

#include "core/golden.h"

namespace kw::profile {
namespace {

void expect_profile_golden(const std::string& name, const std::string& got) {
  kw::expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/profile/" + name + ".txt", got);
}

constexpr Ceilings kMeasured{
    .tera_flops = 780, .fp32_tera = 60, .gigabytes = 4240, .launch_us = 2.2};

/// A row-wise softmax that reads its input three times, one element per thread.
MetricSet naive_softmax() {
  MetricSet m;
  m.kernel = "softmax_rows";
  m.set("duration_us", 84.1, MetricSource::Ncu, "gpu__time_duration.sum");
  m.set("dram_throughput_pct", 38.2, MetricSource::Ncu, "x");
  m.set("memory_throughput_pct", 71.5, MetricSource::Ncu, "x");
  m.set("l1_throughput_pct", 71.5, MetricSource::Ncu, "x");
  m.set("sm_throughput_pct", 44, MetricSource::Ncu, "x");
  m.set("ipc", 1.31, MetricSource::Ncu, "x");
  m.set("occupancy_pct", 92.3, MetricSource::Ncu, "x");
  m.set("stall_long_scoreboard_pct", 21, MetricSource::Ncu, "x");
  m.set("stall_barrier_pct", 33.4, MetricSource::Ncu, "x");
  m.set("load_bytes_per_thread", 2, MetricSource::Vgpu, "x");
  m.set("store_bytes_per_thread", 2, MetricSource::Vgpu, "x");
  m.set("load_efficiency_pct", 100, MetricSource::Vgpu, "x");
  m.set("store_efficiency_pct", 100, MetricSource::Vgpu, "x");
  m.set("barrier_arrivals_pct", 6.5, MetricSource::Vgpu, "x");
  m.set("bank_conflict_pct", 0, MetricSource::Vgpu, "x");
  m.set("spill_bytes", 0, MetricSource::Static, "the compiler");
  m.set("launches", 1, MetricSource::Static, "the launch plan");
  m.set_flag("has_reduction", true, MetricSource::Static, "graph");
  m.set_flag("has_exponential", true, MetricSource::Static, "graph");
  m.set_flag("has_matmul", false, MetricSource::Static, "graph");
  m.set_flag("is_elementwise", false, MetricSource::Static, "graph");
  m.set_flag("uses_shuffle", false, MetricSource::Static, "PTX");
  m.set_flag("uses_shared", true, MetricSource::Static, "PTX");
  m.set_flag("uses_barrier", true, MetricSource::Static, "PTX");
  m.set_flag("uses_tensor_core", false, MetricSource::Static, "PTX");
  m.notes.push_back("lts__t_sector_hit_rate.pct: 'no data' is not a number; left out");
  return m;
}

TEST(Text, OfMetrics) { expect_profile_golden("metrics", metrics_text(naive_softmax())); }

TEST(Text, OfNothing) { expect_profile_golden("metrics_none", metrics_text(MetricSet())); }

TEST(Text, OfRooflineAndPlan) {
  const MetricSet metrics = naive_softmax();
  const Roofline r = roofline(metrics, time_floor(8e7, 67e6, kMeasured), kMeasured, std::nullopt);
  const arch::Target h200 = *arch::find_target("sm_90a");
  const Plan plan =
      plan_methods(catalog::methods(), {metrics, r, h200, "here", {"memory.coalesced_access"}});
  expect_profile_golden("softmax", roofline_text(r) + "\n" + plan_text(plan));
}

TEST(Text, OfAnEstimate) {
  MetricSet m;
  m.set("global_load_sectors", 6e6, MetricSource::Vgpu, "x");
  m.set("global_store_sectors", 1e6, MetricSource::Vgpu, "x");
  const Roofline r = roofline(m, time_floor(0, 64e6, kMeasured), kMeasured, std::nullopt);
  expect_profile_golden("estimate", roofline_text(r));
}

}  // namespace
}  // namespace kw::profile
