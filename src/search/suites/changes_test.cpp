#include "suites/changes.h"

#include <gtest/gtest.h>

namespace kw::suites {
namespace {

struct Case {
  const char* name;
  double before, after;  // speedups; negative: failed; 0: none
  double width;          // of both intervals, relative; 0: unknown
  const char* want;      // "": no change
};
class Changes : public testing::TestWithParam<Case> {};

TaskRow row_with(double speedup, double width) {
  TaskRow row;
  row.kernel = "k";
  row.passed = speedup >= 0;
  row.measured = true;
  if (speedup <= 0) return row;
  row.speedup = speedup;
  if (width > 0) {
    row.speedup_low = speedup * (1 - width / 2);
    row.speedup_high = speedup * (1 + width / 2);
  }
  return row;
}

TEST_P(Changes, AreToldOnlyBeyondTheNoise) {
  const Case& c = GetParam();
  const std::vector<TaskRow> before = {row_with(c.before, c.width)};
  const std::vector<TaskRow> after = {row_with(c.after, c.width)};
  const std::vector<Change> changes = changes_between(before, after);
  EXPECT_EQ(changes.empty() ? "" : changes[0].text(), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Changes,
    testing::Values(Case{"Broke", 1.2, -1, 0.01, "pass_to_fail"},
                    Case{"Mended", -1, 1.2, 0.01, "fail_to_pass"},
                    Case{"StillBroken", -1, -1, 0.01, ""},
                    Case{"WithinTheLeastBand", 1.00, 0.985, 0.002, ""},
                    Case{"Slower", 1.00, 0.97, 0.002, "speedup_drop:1->0.97"},
                    Case{"Faster", 1.00, 1.04, 0.002, "speedup_gain:1->1.04"},
                    Case{"NoisyOnes", 1.00, 0.90, 0.2, ""},
                    Case{"NoisyButFar", 1.00, 0.80, 0.2, "speedup_drop:1->0.8"},
                    Case{"NoIntervals", 1.00, 0.94, 0, ""},
                    Case{"NoIntervalsButFar", 1.00, 0.90, 0, "speedup_drop:1->0.9"},
                    Case{"NothingToCompare", 0, 1.2, 0.01, ""}),
    [](const testing::TestParamInfo<Case>& row) { return row.param.name; });

TEST(Changes, WithoutBaselinesTheFloorDecides) {
  TaskRow before = row_with(0, 0), after = before;
  before.of_floor = 0.95;
  after.of_floor = 0.70;
  const std::vector<Change> changes =
      changes_between(std::vector<TaskRow>{before}, std::vector<TaskRow>{after});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].text(), "floor_drop:0.95->0.7");
  EXPECT_TRUE(changes[0].regression());
  after.device = "another GPU";
  EXPECT_TRUE(changes_between(std::vector<TaskRow>{before}, std::vector<TaskRow>{after}).empty());
}

TEST(Changes, AnEstimateIsNotComparedWithATime) {
  TaskRow before = row_with(0, 0), after = before;
  before.of_floor = 0.95;
  after.of_floor = 0.5;
  after.measured = false;
  EXPECT_TRUE(changes_between(std::vector<TaskRow>{before}, std::vector<TaskRow>{after}).empty());
}

TEST(Changes, OtherShapesAreNotCompared) {
  TaskRow before = row_with(1.2, 0.01), after = row_with(0.9, 0.01);
  before.shape = "B=4";
  after.shape = "B=8";
  EXPECT_TRUE(changes_between(std::vector<TaskRow>{before}, std::vector<TaskRow>{after}).empty());
}

TEST(Changes, NewAndMissingAreNoRegressions) {
  TaskRow gone = row_with(1, 0.01), fresh = row_with(1, 0.01);
  gone.kernel = "gone";
  fresh.kernel = "fresh";
  const std::vector<Change> changes =
      changes_between(std::vector<TaskRow>{gone}, std::vector<TaskRow>{fresh});
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].text(), "new");
  EXPECT_EQ(changes[1].text(), "missing");
  EXPECT_FALSE(changes[0].regression() || changes[1].regression());
}

TEST(Changes, ReadTheCompiledColumnOfOlderTables) {
  TaskRow before, after = row_with(0.9, 0.01);
  before.kernel = "k";
  before.passed = true;
  before.speedup_vs_torch_compile = 1.2;
  const std::vector<Change> changes =
      changes_between(std::vector<TaskRow>{before}, std::vector<TaskRow>{after});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].text(), "speedup_drop:1.2->0.9");
}

}  // namespace
}  // namespace kw::suites
