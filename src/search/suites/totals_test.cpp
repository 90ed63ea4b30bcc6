#include "suites/totals.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kw::suites {
namespace {

TaskRow timed(const std::string& kernel, double speedup, const std::string& relation) {
  TaskRow row;
  row.kernel = kernel;
  row.passed = row.measured = true;
  row.speedup = speedup;
  row.relation = relation;
  row.of_floor = 0.9 + 0.02 * speedup;
  row.wall_seconds = 10;
  row.cost_usd = 0.5;
  return row;
}

TaskRow failed(const std::string& kernel, const char* kind) {
  TaskRow row;
  row.kernel = kernel;
  row.failure_kind = kind;
  row.wall_seconds = 4;
  return row;
}

TEST(Totals, CountOverAllTasks) {
  const std::vector<TaskRow> rows = {timed("a", 1, "SAME"),         timed("b", 2, "FASTER"),
                                     timed("c", 4, "FASTER"),       timed("d", 0.5, "SLOWER"),
                                     timed("e", 1.01, "AMBIGUOUS"), failed("f", kTaskError)};
  const Totals totals = totals_of(rows);
  EXPECT_EQ(totals.passed.count, 5);
  EXPECT_EQ(totals.passed.of, 6);
  EXPECT_EQ(totals.fast_1.count, 2);      // a speedup of 1.01 that is AMBIGUOUS does not count
  EXPECT_EQ(totals.not_slower.count, 3);  // nor does it count here
  EXPECT_EQ(totals.slower, 1);
  EXPECT_EQ(totals.compared, 5);
  EXPECT_EQ(totals.fast_p.at(1.0).count, 3);
  EXPECT_EQ(totals.fast_p.at(0.5).count, 4);
  EXPECT_EQ(totals.fast_p.at(2.0).of, 6);
  EXPECT_EQ(totals.failures.at(kTaskError), 1);
  EXPECT_DOUBLE_EQ(totals.seconds, 54);
  EXPECT_DOUBLE_EQ(*totals.cost_usd, 2.5);
  EXPECT_DOUBLE_EQ(*totals.cost_per_passed, 0.5);
}

TEST(Totals, SpeedupsAreOrderedAndBracketed) {
  const std::vector<TaskRow> rows = {timed("a", 1, "SAME"), timed("b", 2, "FASTER"),
                                     timed("c", 4, "FASTER"), timed("d", 16, "FASTER")};
  const Totals totals = totals_of(rows);
  EXPECT_DOUBLE_EQ(totals.median->value, 3);
  EXPECT_DOUBLE_EQ(totals.p25->value, 1.75);
  EXPECT_NEAR(totals.geomean->value, std::pow(128.0, 0.25), 1e-12);
  EXPECT_LT(totals.geomean->low, totals.geomean->value);
  EXPECT_GT(totals.geomean->high, totals.geomean->value);
  EXPECT_GE(totals.geomean->low, 1);
  EXPECT_LE(totals.geomean->high, 16);
  EXPECT_EQ(totals.without_best->kernel, "d");
  EXPECT_NEAR(totals.without_best->geomean, 2, 1e-12);
}

TEST(Totals, AreTheSameEveryTime) {
  std::vector<TaskRow> rows;
  for (int i = 1; i < 30; ++i) rows.push_back(timed(std::to_string(i), 0.9 + 0.01 * i, "FASTER"));
  EXPECT_EQ(to_json(totals_of(rows, 7)).dump(), to_json(totals_of(rows, 7)).dump());
  EXPECT_NE(totals_of(rows, 7).geomean->low, totals_of(rows, 8).geomean->low);
}

TEST(Totals, EstimatesAreNeverCountedAsMeasured) {
  TaskRow row = timed("a", 3, "");
  row.measured = false;
  const Totals totals = totals_of(std::vector<TaskRow>{row});
  EXPECT_EQ(totals.compared, 0);
  EXPECT_FALSE(totals.geomean.has_value());
  EXPECT_FALSE(totals.of_floor.has_value());
  EXPECT_NEAR(*totals.estimated_of_floor, 0.96, 1e-12);
  EXPECT_EQ(totals.fast_p.at(1.0).count, 0);
}

TEST(Totals, OfNothingAreEmpty) {
  const Totals totals = totals_of({});
  EXPECT_EQ(totals.passed.of, 0);
  EXPECT_FALSE(totals.median.has_value());
  EXPECT_FALSE(totals.cost_usd.has_value());
  EXPECT_FALSE(to_json(totals).dump().empty());
}

struct WilsonCase {
  int64_t count, of;
  double low, high;
};
class Wilson : public testing::TestWithParam<WilsonCase> {};

TEST_P(Wilson, IntervalIsThePublishedOne) {
  const Rate rate = rate_of(GetParam().count, GetParam().of);
  EXPECT_NEAR(rate.share.low, GetParam().low, 5e-4);
  EXPECT_NEAR(rate.share.high, GetParam().high, 5e-4);
}

// Computed by hand with the formula of Wilson (1927), z = 1.96.
INSTANTIATE_TEST_SUITE_P(Rates, Wilson,
                         testing::Values(WilsonCase{0, 10, 0, 0.2775},
                                         WilsonCase{10, 10, 0.7225, 1},
                                         WilsonCase{15, 50, 0.1910, 0.4375},
                                         WilsonCase{1, 1, 0.2065, 1}));

}  // namespace
}  // namespace kw::suites
