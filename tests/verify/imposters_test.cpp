// Every imposter that applies to a task must be stopped by one of its cells; which apply, and why
// the others do not, is part of what is tested.
#include "gate/imposters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "shapes/shapes.h"
#include "tasks.h"
#include "truth/interpreter.h"

namespace kw::verify_tests {

namespace {

struct Row {
  const char* task;
  std::set<std::string> must_apply;
  std::set<std::string> must_not_apply;
};

class Imposters : public testing::TestWithParam<Row> {};

TEST_P(Imposters, AreStoppedBySomeCell) {
  const task::Task task = make_task(GetParam().task);
  truth::Interpreter oracle;
  shapes::ShapeLimits limits = shapes::virtual_limits();
  limits.work = 1e5;  // small shapes are enough to tell them apart
  limits.large_work = 3e5;
  uint64_t seed = 77;
  auto plan = shapes::plan_shapes(task, limits);
  ASSERT_TRUE(plan) << plan.error().message;
  auto pool = gate::Pool::make(task, oracle, std::move(plan).value(), {},
                               [&]() -> Result<uint64_t> { return ++seed; });
  ASSERT_TRUE(pool) << pool.error().message;
  const auto report = gate::kill_rate(*pool, oracle);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->rows.size(), 14U);
  for (const gate::ImposterRow& row : report->rows) {
    EXPECT_FALSE(row.survived()) << row.name << " passed all of " << row.tried << " cells";
    const bool applies = row.applies();
    if (GetParam().must_apply.count(row.name) > 0) {
      EXPECT_TRUE(applies) << row.name << ": " << row.inapplicable << row.equivalent;
    }
    if (GetParam().must_not_apply.count(row.name) > 0) {
      EXPECT_FALSE(applies) << row.name;
    }
  }
  EXPECT_TRUE(report->complete());
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, Imposters,
    testing::Values(
        Row{"rms_norm",
            {"zero", "constant", "identity", "half-scaled", "sign-flipped", "first-row-only",
             "dropped-tail", "stale-buffer", "sampled-reduction", "bf16-inside", "fp16-accumulate"},
            {"one-pass-variance", "no-max-subtract", "tf32-inside"}},
        Row{"layer_norm",
            {"one-pass-variance", "bf16-inside", "fp16-accumulate"},
            {"no-max-subtract"}},
        Row{"softmax", {"no-max-subtract", "sampled-reduction"}, {"one-pass-variance"}},
        Row{"row_sum", {"sampled-reduction", "fp16-accumulate", "bf16-inside"}, {"identity"}},
        Row{"sum_all", {"zero", "stale-buffer", "sampled-reduction"}, {"constant", "dropped-tail"}},
        // A row of one element makes the identity right, at shapes the task does not name.
        Row{"row_max_column", {"zero", "half-scaled", "first-row-only"}, {"identity"}},
        Row{"transpose", {"zero", "stale-buffer"}, {"sampled-reduction", "bf16-inside"}},
        Row{"argmax", {"zero", "constant", "stale-buffer"}, {"fp16-accumulate"}},
        Row{"matmul", {"tf32-inside", "fp16-accumulate", "bf16-inside"}, {"one-pass-variance"}},
        // One pass is right on paper. Inputs of very different sizes stop it.
        Row{"product_norm", {"zero", "identity", "bf16-inside", "one-pass-variance"}, {}}),
    [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.task); });

// A formula that is right on paper and keeps the bound in every cell says nothing about the task;
// one that is wrong on paper does.
TEST(ImposterRows, WhatIsRightOnPaperCountsOnlyWhenItIsStopped) {
  const gate::ImposterRow right{"one-pass-variance", "", 5, 0, "", true};
  EXPECT_FALSE(right.applies());
  EXPECT_FALSE(right.survived());
  const gate::ImposterRow wrong{"zero", "", 5, 0, "", false};
  EXPECT_TRUE(wrong.survived());
  gate::KillReport report;
  report.rows = {right, {"zero", "", 5, 2, "N=3, normal", false}};
  EXPECT_EQ(report.applicable(), 1);
  EXPECT_TRUE(report.complete());
  EXPECT_TRUE(gate::to_json(report)["imposters"].items()[0]["equivalent"].as_bool());
  report.rows.push_back(wrong);
  EXPECT_FALSE(report.complete());
}

}  // namespace
}  // namespace kw::verify_tests
