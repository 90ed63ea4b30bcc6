#include "profile/call.h"

#include <gtest/gtest.h>

namespace kw::profile {
namespace {

LaunchMetrics launch(double us, double sectors, double dram_pct, double registers, bool shared) {
  LaunchMetrics one;
  one.us = us;
  one.metrics.kernel = us > 5 ? "long" : "short";
  one.metrics.set("global_load_sectors", sectors, MetricSource::Vgpu, "counted");
  one.metrics.set("dram_throughput_pct", dram_pct, MetricSource::Ncu, "column");
  one.metrics.set("registers_per_thread", registers, MetricSource::Static, "the compiler");
  one.metrics.set_flag("uses_shared", shared, MetricSource::Static, "the PTX");
  return one;
}

TEST(Call, AddsUpItsLaunches) {
  const std::vector<LaunchMetrics> launches = {launch(2, 100, 10, 32, true),
                                               launch(6, 300, 90, 64, false)};
  EXPECT_EQ(longest_launch(launches), 1u);
  const MetricSet call = metrics_of_call(launches);
  EXPECT_EQ(call.kernel, "long");
  EXPECT_EQ(call.get("global_load_sectors"), 400);
  EXPECT_EQ(call.get("dram_throughput_pct"), 70);  // weighted by time
  EXPECT_EQ(call.get("registers_per_thread"), 64);
  EXPECT_EQ(call.is("uses_shared"), true);
}

TEST(Call, KnowsNothingOfWhatOneLaunchDoesNotKnow) {
  std::vector<LaunchMetrics> launches = {launch(2, 100, 10, 32, false),
                                         launch(6, 300, 90, 64, false)};
  launches[0].metrics = {};
  const MetricSet call = metrics_of_call(launches);
  EXPECT_FALSE(call.knows("global_load_sectors"));
  EXPECT_FALSE(call.knows("dram_throughput_pct"));
  EXPECT_FALSE(call.knows("uses_shared"));
  EXPECT_TRUE(call.knows("registers_per_thread"));
}

TEST(Call, OfOneLaunchIsThatLaunch) {
  const std::vector<LaunchMetrics> launches = {launch(2, 100, 10, 32, true)};
  EXPECT_EQ(metrics_of_call(launches).all().size(), launches[0].metrics.all().size());
  EXPECT_TRUE(metrics_of_call({}).all().empty());
}

TEST(Call, ScalesCountsAndNothingElse) {
  MetricSet metrics = launch(2, 100, 10, 32, true).metrics;
  metrics.set("load_efficiency_pct", 50, MetricSource::Vgpu, "counted");
  scale_counts(metrics, 8, "B=4");
  EXPECT_EQ(metrics.get("global_load_sectors"), 800);
  EXPECT_EQ(metrics.find("global_load_sectors")->from, "counted, counted at B=4 and scaled");
  EXPECT_EQ(metrics.get("load_efficiency_pct"), 50);
  EXPECT_EQ(metrics.get("registers_per_thread"), 32);
}

}  // namespace
}  // namespace kw::profile
