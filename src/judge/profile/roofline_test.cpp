#include "profile/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw::profile {
namespace {

struct BudgetCase {
  const char* name;
  double compute, memory, latency;  // below 0: unknown
  AxisBudget want;
};

Gaps gaps_of(const BudgetCase& c) {
  const auto known = [](double value) {
    return value < 0 ? std::nullopt : std::optional<double>(value);
  };
  return {known(c.compute), known(c.memory), known(c.latency)};
}

class Budgets : public testing::TestWithParam<BudgetCase> {};

TEST_P(Budgets, FollowTheGaps) {
  const AxisBudget got = axis_budget(gaps_of(GetParam()));
  EXPECT_EQ(got, GetParam().want) << got.compute << "," << got.memory << "," << got.latency;
}

INSTANTIATE_TEST_SUITE_P(Golden, Budgets,
                         testing::Values(BudgetCase{"walkthrough", .92, .57, .61, {1, 1, 1}},
                                         BudgetCase{"compute_first", .9, .1, .5, {2, 0, 1}},
                                         BudgetCase{"negligible_memory", .95, .05, .5, {2, 0, 1}},
                                         BudgetCase{"compute_alone", .9, .05, .05, {2, 0, 0}},
                                         BudgetCase{"nothing", .05, .05, .05, {0, 0, 0}},
                                         BudgetCase{"tie_to_memory", .9, .9, .05, {1, 2, 0}},
                                         BudgetCase{"capped", 1, .08, .3, {2, 0, 1}},
                                         BudgetCase{"small_tie", .3, .3, .05, {1, 2, 0}},
                                         BudgetCase{"memory_alone", 0, .9, 0, {0, 2, 0}},
                                         BudgetCase{"descending", .6, .3, .1, {2, 1, 0}},
                                         BudgetCase{"memory_first", .2, .7, .1, {1, 2, 0}},
                                         BudgetCase{"just_enough", .11, 0, 0, {2, 0, 0}},
                                         BudgetCase{"halving", .8, .4, .2, {2, 1, 0}},
                                         BudgetCase{"rest_tie", 1, .2, .2, {2, 1, 0}},
                                         BudgetCase{"tie_to_latency", .5, 0, .5, {1, 0, 2}},
                                         BudgetCase{"tie_by_gap", .25, .75, .5, {0, 2, 1}},
                                         BudgetCase{"all_full", 1, 1, 1, {1, 1, 1}},
                                         BudgetCase{"all_half", .5, .5, .5, {1, 1, 1}},
                                         BudgetCase{"all_at_the_edge", .1, .1, .1, {1, 1, 1}},
                                         BudgetCase{"all_unknown", -1, -1, -1, {0, 0, 0}},
                                         BudgetCase{"unknown_gets_none", -1, .5, -1, {0, 2, 0}},
                                         BudgetCase{"two_known", .5, -1, .5, {1, 0, 2}}),
                         [](const auto& c) { return c.param.name; });

TEST(Budgets, NeverExceedTheirLimits) {
  for (int c = -1; c <= 20; ++c) {
    for (int m = -1; m <= 20; ++m) {
      for (int l = -1; l <= 20; ++l) {
        const AxisBudget b = axis_budget(gaps_of({"", c / 20.0, m / 20.0, l / 20.0, {}}));
        EXPECT_LE(b.compute + b.memory + b.latency, kBudget);
        EXPECT_LE(std::max({b.compute, b.memory, b.latency}), kAxisCap);
        EXPECT_TRUE(b.compute == 0 || c / 20.0 >= kNegligible);
        EXPECT_TRUE(b.memory == 0 || m / 20.0 >= kNegligible);
      }
    }
  }
  EXPECT_EQ(axis_budget({NAN, INFINITY, std::nullopt}), (AxisBudget{0, 2, 0}));
}

struct Case {
  const char* name;
  std::vector<std::pair<const char*, double>> metrics;
  TimeFloor floor;
  double time_us;  // 0: not measured
  Bottleneck bottleneck;
  bool near_peak;
  AxisBudget budget;
};

constexpr Ceilings kCeilings{.tera_flops = 700, .fp32_tera = 60, .gigabytes = 4000, .launch_us = 2};

class Rooflines : public testing::TestWithParam<Case> {};

TEST_P(Rooflines, NameTheBottleneckAndTheBudget) {
  const Case& c = GetParam();
  MetricSet metrics;
  for (const auto& [id, value] : c.metrics) metrics.set(id, value, MetricSource::Ncu, "test");
  const Roofline r = roofline(metrics, c.floor, kCeilings,
                              c.time_us > 0 ? std::optional(c.time_us) : std::nullopt);
  EXPECT_STREQ(bottleneck_name(r.bottleneck), bottleneck_name(c.bottleneck));
  EXPECT_EQ(r.near_peak, c.near_peak);
  EXPECT_EQ(r.budget, c.budget) << r.budget.compute << "," << r.budget.memory << ","
                                << r.budget.latency;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Rooflines,
    testing::Values(
        // The two cases that "1 - utilisation" gets wrong.
        Case{
            "elementwise_at_the_memory_rate",
            {{"dram_throughput_pct", 93}, {"memory_throughput_pct", 93}, {"sm_throughput_pct", 20}},
            {.compute_us = 1, .memory_us = 93, .launch_us = 2},
            100,
            Bottleneck::Dram,
            true,
            {}},
        Case{"product_with_one_busy_sub_pipe",
             {{"tensor_pipe_pct", 92},
              {"tensor_int_pipe_pct", 0},
              {"sm_throughput_pct", 60},
              {"memory_throughput_pct", 40},
              {"dram_throughput_pct", 30}},
             {.compute_us = 90, .memory_us = 20, .launch_us = 2},
             100,
             Bottleneck::Compute,
             true,
             {}},
        Case{
            "every_byte_four_times",
            {{"dram_throughput_pct", 93}, {"memory_throughput_pct", 93}, {"sm_throughput_pct", 20}},
            {.compute_us = 1, .memory_us = 23, .launch_us = 2},
            100,
            Bottleneck::Dram,
            false,
            {0, 2, 0}},
        Case{"product_on_ordinary_units",
             {{"fma_pipe_pct", 90},
              {"tensor_pipe_pct", 0},
              {"sm_throughput_pct", 90},
              {"memory_throughput_pct", 40},
              {"dram_throughput_pct", 10}},
             {.compute_us = 8, .memory_us = 5, .launch_us = 2},
             100,
             Bottleneck::Compute,
             false,
             {2, 0, 0}},
        Case{"cache_bound",
             {{"l1_throughput_pct", 95},
              {"memory_throughput_pct", 95},
              {"dram_throughput_pct", 20},
              {"sm_throughput_pct", 30}},
             {.compute_us = 1, .memory_us = 20, .launch_us = 2},
             100,
             Bottleneck::Cache,
             false,
             {0, 2, 0}},
        Case{"waiting",
             {{"memory_throughput_pct", 30},
              {"dram_throughput_pct", 30},
              {"sm_throughput_pct", 20},
              {"occupancy_pct", 80}},
             {.compute_us = 18, .memory_us = 28, .launch_us = 2},
             100,
             Bottleneck::Latency,
             false,
             {0, 0, 2}},
        Case{"few_warps",
             {{"memory_throughput_pct", 30},
              {"dram_throughput_pct", 30},
              {"sm_throughput_pct", 20},
              {"occupancy_pct", 12}},
             {.compute_us = 18, .memory_us = 28, .launch_us = 2},
             100,
             Bottleneck::Occupancy,
             false,
             {0, 0, 2}},
        Case{"launch",
             {{"memory_throughput_pct", 5}, {"sm_throughput_pct", 5}},
             {.compute_us = 0, .memory_us = 0.1, .launch_us = 2},
             3,
             Bottleneck::Launch,
             false,
             {0, 0, 2}},
        Case{
            "mixed",
            {{"memory_throughput_pct", 75}, {"dram_throughput_pct", 75}, {"sm_throughput_pct", 80}},
            {.compute_us = 50, .memory_us = 50, .launch_us = 2},
            100,
            Bottleneck::Mixed,
            false,
            {1, 1, 1}},
        Case{"at_the_floor_without_counters",
             {},
             {.compute_us = 1, .memory_us = 90, .launch_us = 2},
             100,
             Bottleneck::Dram,
             true,
             {}},
        // Ten times the floor and nothing measured: the cause of the lost time is unknown.
        Case{"slow_without_counters",
             {},
             {.compute_us = 1, .memory_us = 10, .launch_us = 2},
             100,
             Bottleneck::Unknown,
             false,
             {}},
        // Busy with arithmetic, but whether the task needs it is unknown: not near the peak.
        Case{"no_floor",
             {{"fma_pipe_pct", 95}, {"sm_throughput_pct", 95}, {"memory_throughput_pct", 20}},
             {},
             100,
             Bottleneck::Compute,
             false,
             {}},
        Case{"nothing_known", {}, {}, 0, Bottleneck::Unknown, false, {}},
        Case{"only_stalls",
             {{"stall_barrier_pct", 60}},
             {},
             100,
             Bottleneck::Latency,
             false,
             {0, 0, 2}},
        // One idle unit does not prove that the other is idle too.
        Case{"memory_idle_compute_unknown",
             {{"dram_throughput_pct", 30}},
             {.compute_us = std::nullopt, .memory_us = 30, .launch_us = 2},
             100,
             Bottleneck::Unknown,
             false,
             {}},
        Case{"negative_time", {{"duration_us", -5}}, {}, 0, Bottleneck::Unknown, false, {}}),
    [](const auto& c) { return c.param.name; });

TEST(Rooflines, WithoutAClockCountsGiveAnEstimate) {
  MetricSet metrics;
  metrics.set("global_load_sectors", 4e6, MetricSource::Vgpu, "test");  // 128 MB, 32 us
  metrics.set("global_store_sectors", 1e6, MetricSource::Vgpu, "test");
  metrics.set("warp_instructions", 1e6, MetricSource::Vgpu, "test");
  const Roofline r = roofline(metrics, time_floor(0, 40e6, kCeilings), kCeilings, std::nullopt);
  EXPECT_TRUE(r.estimated);
  EXPECT_FALSE(r.gaps.latency) << "no clock, no waiting";
  ASSERT_TRUE(r.gaps.memory);
  EXPECT_NEAR(*r.gaps.memory, 0.75, 1e-9) << "four times the least traffic";
  EXPECT_EQ(r.budget.latency, 0);
  EXPECT_EQ(r.budget.memory, 2);
}

TEST(Rooflines, AUnitBehindTheLimitingOneIsChargedLittle) {
  MetricSet metrics;
  metrics.set("memory_throughput_pct", 80, MetricSource::Ncu, "test");
  metrics.set("sm_throughput_pct", 60, MetricSource::Ncu, "test");
  const Roofline r =
      roofline(metrics, {.compute_us = 5, .memory_us = 40, .launch_us = 2}, kCeilings, 100);
  EXPECT_NEAR(*r.gaps.memory, 0.4, 1e-12);
  EXPECT_NEAR(*r.gaps.compute, 0.55 * 0.75 * 0.75, 1e-12);
  EXPECT_NEAR(*r.gaps.latency, 0.2, 1e-12);
}

TEST(Floors, AreMadeOfMeasuredCeilings) {
  const TimeFloor floor = time_floor(7e12, 4e9, kCeilings);
  EXPECT_DOUBLE_EQ(*floor.compute_us, 1e4);
  EXPECT_DOUBLE_EQ(*floor.memory_us, 1e3);
  EXPECT_DOUBLE_EQ(*floor.us(), 1e4);
  EXPECT_FALSE(time_floor(1, 1, {}).us()) << "nothing was measured";
  EXPECT_DOUBLE_EQ(*time_floor(0, 4, kCeilings).us(), 2) << "never below an empty launch";
}

TEST(History, HasTheKeysOfTheDriftTable) {
  const Json row = history_row(2, roofline(MetricSet(), {}, {}, std::nullopt));
  for (const char* key :
       {"iter", "delta_compute", "delta_memory", "delta_latency", "bound", "axis_budget"})
    EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_TRUE(row["delta_latency"].is_null());
  EXPECT_EQ(row["iter"].as_int(), 2);
}

}  // namespace
}  // namespace kw::profile
