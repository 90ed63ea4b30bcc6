#include "suites/row.h"

#include <gtest/gtest.h>

#include "suites/csv.h"

namespace kw::suites {
namespace {

TaskRow full_row() {
  TaskRow row;
  row.kernel = "softmax, \"last\" dim";
  row.passed = true;
  row.run_id = "0a1b";
  row.failure_reason = "line 1\nline 2";
  row.speedup_vs_torch_compile = 1.25;
  row.below_target = false;
  row.relation = "FASTER";
  row.speedup = 1.2;
  row.speedup_low = 1.1;
  row.speedup_high = 1.3;
  row.measured = true;
  row.time_us = 12.5;
  row.tried = 40;
  row.wall_seconds = 3.5;
  row.max_z = 0.25;
  row.shape = "B=4 D=8";
  return row;
}

void expect_same(const TaskRow& a, const TaskRow& b) {
  EXPECT_EQ(to_json(a).dump(), to_json(b).dump());
}

TEST(TaskRow, TheFirstColumnsAreThoseOthersKnow) {
  const std::vector<std::string> names = column_names();
  const std::vector<std::string> known = {"kernel",
                                          "passed",
                                          "run_id",
                                          "failed_stage",
                                          "failure_reason",
                                          "failure_kind",
                                          "speedup_vs_torch_compile",
                                          "speedup_vs_reference",
                                          "below_target",
                                          "baseline_status",
                                          "artifacts_dir",
                                          "regression",
                                          "provider",
                                          "model_id"};
  ASSERT_GT(names.size(), known.size());
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 14), known);
}

TEST(TaskRow, SurvivesCsvAndJson) {
  const TaskRow row = full_row();
  TaskRow empty;
  empty.kernel = "empty";
  const auto rows = rows_from_csv(to_csv({row, empty}));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  expect_same((*rows)[0], row);
  EXPECT_FALSE((*rows)[1].speedup.has_value());
  EXPECT_FALSE((*rows)[1].below_target.has_value());
  const auto parsed = Json::parse(to_json(row).dump());
  ASSERT_TRUE(parsed);
  const auto back = row_from_json(*parsed);
  ASSERT_TRUE(back);
  expect_same(*back, row);
}

TEST(TaskRow, ReadsTheTablesOfOthers) {
  const auto rows = rows_from_csv(
      "kernel,passed,speedup_vs_torch_compile,mood\r\nrelu,True,1.5,fine\r\nbad,False,,\r\n");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE((*rows)[0].passed);
  EXPECT_EQ((*rows)[0].speedup_vs_torch_compile, 1.5);
  EXPECT_FALSE((*rows)[1].passed);
  EXPECT_FALSE((*rows)[1].speedup_vs_torch_compile.has_value());
}

struct Bad {
  const char* name;
  const char* text;
  const char* message;
};
class BadTable : public testing::TestWithParam<Bad> {};

TEST_P(BadTable, IsRefusedWithItsLine) {
  const auto rows = rows_from_csv(GetParam().text);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().blame, Blame::Input);
  EXPECT_EQ(rows.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Tables, BadTable,
    testing::Values(Bad{"Empty", "", "there is no header line"},
                    Bad{"Foreign", "a,b\n1,2\n", "there is no column 'kernel'"},
                    Bad{"Short", "kernel,passed\nx\n", "line 2: 1 cells under 2 columns"},
                    Bad{"Number", "kernel,speedup\n\nx,fast\n", "line 3: 'fast' is not a speedup"},
                    Bad{"Open", "kernel\n\"x\n", "line 2: a quote that never ends"},
                    Bad{"Behind", "kernel\n\"x\"y\n", "line 2: text behind a closing quote"}),
    [](const testing::TestParamInfo<Bad>& row) { return row.param.name; });

TEST(TaskRow, JsonOfSomethingElseIsRefused) {
  EXPECT_FALSE(row_from_json(Json::object().set("passed", true)));
  EXPECT_FALSE(row_from_json(Json(3)));
}

TEST(Csv, KeepsCellsWithNewlinesAndQuotes) {
  const std::vector<std::string> cells = {"a,b", "say \"hi\"", "two\nlines", "", "plain"};
  const auto records = parse_csv(csv_line(cells) + csv_line({"x"}));
  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 2U);
  EXPECT_EQ((*records)[0].cells, cells);
  EXPECT_EQ((*records)[1].line, 3);
}

}  // namespace
}  // namespace kw::suites
