#include "optimize/method_history.h"

#include <gtest/gtest.h>

namespace kw::optimize {
namespace {

using Values = std::map<std::string, double>;

struct CounterRow {
  const char* method;
  Values with, without;
  profile::SassState want;
};
class Counters : public testing::TestWithParam<CounterRow> {};

profile::MetricSet metrics_of(const Values& values) {
  profile::MetricSet metrics;
  for (const auto& [id, value] : values) metrics.set(id, value, profile::MetricSource::Ncu, "test");
  return metrics;
}

TEST_P(Counters, ShowWhatAMethodChanged) {
  const CounterRow& row = GetParam();
  const MethodHistory seen =
      seen_by_counters(*catalog::find(row.method), metrics_of(row.with), metrics_of(row.without));
  EXPECT_STREQ(profile::sass_state_name(seen.state), profile::sass_state_name(row.want))
      << seen.why;
  EXPECT_FALSE(seen.why.empty());
  const MethodHistory again = method_history_of(to_json(seen));
  EXPECT_EQ(again.state, seen.state);
  EXPECT_EQ(again.why, seen.why);
}

constexpr auto kSeen = profile::SassState::Verified;
constexpr auto kBlind = profile::SassState::Unknown;

INSTANTIATE_TEST_SUITE_P(
    All, Counters,
    testing::Values(
        CounterRow{
            "memory.bank_conflict", {{"bank_conflict_pct", 0}}, {{"bank_conflict_pct", 40}}, kSeen},
        CounterRow{"memory.bank_conflict",
                   {{"bank_conflict_pct", 40}},
                   {{"bank_conflict_pct", 40}},
                   kBlind},
        CounterRow{"memory.bank_conflict",
                   {{"bank_conflict_pct", 40}},
                   {{"bank_conflict_pct", 0}},
                   kBlind},
        CounterRow{"memory.bank_conflict", {}, {{"bank_conflict_pct", 40}}, kBlind},
        // Known in parts: fewer launches, for any traffic.
        CounterRow{"memory.kernel_fusion", {{"launches", 1}}, {{"launches", 3}}, kSeen},
        CounterRow{"memory.kernel_fusion", {{"launches", 1}}, {{"launches", 1}}, kBlind},
        CounterRow{"memory.kernel_fusion",
                   {{"launches", 3}, {"traffic_ratio", 1}},
                   {{"launches", 3}, {"traffic_ratio", 2}},
                   kSeen},
        CounterRow{
            "latency.tile_scheduler_swizzle", {{"l2_hit_pct", 90}}, {{"l2_hit_pct", 30}}, kSeen}));

}  // namespace
}  // namespace kw::optimize
