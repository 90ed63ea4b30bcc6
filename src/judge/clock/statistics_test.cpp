#include "clock/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace kw::clock {
namespace {

std::vector<double> ramp(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

struct Case {
  const char* name;
  std::vector<double> samples;
  double median, p5, p95, mad;
  int64_t outliers;
};

class Summaries : public ::testing::TestWithParam<Case> {};

TEST_P(Summaries, AreAsComputedByHand) {
  const Case& c = GetParam();
  const Summary s = summarise(c.samples);
  EXPECT_DOUBLE_EQ(s.median, c.median);
  EXPECT_DOUBLE_EQ(s.p5, c.p5);
  EXPECT_NEAR(s.p95, c.p95, 1e-9);
  EXPECT_DOUBLE_EQ(s.mad, c.mad);
  EXPECT_EQ(s.outliers, c.outliers);
  EXPECT_LE(s.low, s.median);
  EXPECT_GE(s.high, s.median);
}

INSTANTIATE_TEST_SUITE_P(
    Hand, Summaries,
    ::testing::Values(Case{"One", {7}, 7, 7, 7, 0, 0}, Case{"Two", {4, 2}, 3, 2.1, 3.9, 1, 0},
                      Case{"Odd", {5, 1, 3, 2, 4}, 3, 1.2, 4.8, 1, 0},
                      Case{"Even", {4, 1, 3, 2}, 2.5, 1.15, 3.85, 1, 0},
                      Case{"Equal", {6, 6, 6, 6}, 6, 6, 6, 0, 0},
                      Case{"Outlier", {10, 11, 12, 11, 10, 12, 500}, 11, 10, 353.6, 1, 1},
                      Case{"NotFinite", {1, NAN, 3, INFINITY, 2}, 2, 1.1, 2.9, 1, 0}),
    [](const auto& test) { return test.param.name; });

TEST(Statistics, NothingIsZero) {
  const Summary s = summarise({});
  EXPECT_EQ(s.count, 0);
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.high, 0);
}

TEST(Statistics, OneWildSampleHardlyMovesTheResult) {
  std::vector<double> samples = ramp(101);
  const Summary calm = summarise(samples);
  samples.back() = 1e9;
  const Summary wild = summarise(samples);
  EXPECT_EQ(wild.median, calm.median);
  EXPECT_EQ(wild.mad, calm.mad);
  EXPECT_LT(wild.high, 1000);
}

TEST(Statistics, TheIntervalIsDeterministicAndDependsOnTheSeed) {
  std::vector<double> samples;
  for (int i = 0; i < 200; ++i) samples.push_back(std::sqrt(1 + i * 37 % 211));
  EXPECT_EQ(summarise(samples, 3).low, summarise(samples, 3).low);
  EXPECT_EQ(summarise(samples, 3).high, summarise(samples, 3).high);
  const Summary a = summarise(samples, 3);
  const Summary b = summarise(samples, 4);
  EXPECT_TRUE(a.low != b.low || a.high != b.high);
}

TEST(Statistics, TheIntervalCoversTheTrueMedianAsOftenAsItSays) {
  // Exponential samples by inversion of a linear congruential generator: the true median is ln 2.
  uint64_t state = 42;
  auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(60);
    for (double& x : samples) x = -std::log(1 - uniform());
    const Summary s = summarise(samples, static_cast<uint64_t>(trial));
    covered += s.low <= std::log(2.0) && std::log(2.0) <= s.high;
  }
  EXPECT_GE(covered, kTrials * 0.90);
  EXPECT_LE(covered, kTrials * 0.99);
}

TEST(Statistics, TheIntervalNarrowsWithMoreSamples) {
  auto width = [](int n) {
    std::vector<double> samples;
    for (int i = 0; i < n; ++i) samples.push_back(100 + (i * 37) % 101);
    const Summary s = summarise(samples);
    return s.high - s.low;
  };
  EXPECT_LT(width(1600), width(100) / 2);
  EXPECT_LT(width(10000), width(400));
}

TEST(Statistics, JsonHasStableKeys) {
  EXPECT_EQ(
      to_json(summarise(std::vector<double>{2, 2})).dump(),
      R"({"count":2,"median_us":2.0,"low_us":2.0,"high_us":2.0,"min_us":2.0,"p5_us":2.0,"p95_us":2.0,)"
      R"("max_us":2.0,"mad_us":0.0,"relative_noise":0.0,"outliers":0})");
}

}  // namespace
}  // namespace kw::clock
