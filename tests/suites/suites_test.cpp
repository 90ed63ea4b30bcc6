// Every task of a carried suite can be read, passes the linter and stops every imposter that
// applies. Shapes are smaller than `kernelwright lint` looks at, which is only harder on the tasks.
// Linted is a sample of the tasks, or all of them with KW_SUITES_ALL=1.
#include <gtest/gtest.h>

#include <set>

#include "carried.h"
#include "lint/lint.h"
#include "os/files.h"
#include "task_formats/load.h"
#include "truth/interpreter.h"

namespace kw::suites_tests {
namespace {

lint::LintOptions quick() {
  lint::LintOptions options;
  options.seeds = 2;
  options.work = 3e5;
  return options;
}

/// What a task must say of itself beside its reference.
void expect_described(const task::Task& task, const std::string& suite) {
  EXPECT_FALSE(task.benchmark_shapes.empty());
  if (task.format != "folder") return;
  EXPECT_FALSE(task.prompt.empty());
  EXPECT_GE(task.correctness_shapes.size(), 3U);
  for (const auto& [dim, range] : task.dims) EXPECT_LT(range.high, int64_t{1} << 40) << dim;
  if (suite != "internal") return;
  const std::set<task::Dims> want = {{{"B", 16384}, {"D", 1024}}, {{"B", 65536}, {"D", 4096}}};
  EXPECT_EQ(std::set<task::Dims>(task.benchmark_shapes.begin(), task.benchmark_shapes.end()), want);
}

/// Convolutions and gradients take their time on a CPU.
size_t lint_step(const std::string& suite) {
  if (!os::env("KW_SUITES_ALL").empty()) return 1;
  return suite == "ops" || suite == "robust" ? 18 : 10;
}

void expect_clean(const task::Task& task) {
  truth::Interpreter oracle;
  const auto report = lint::lint(task, oracle, quick());
  ASSERT_TRUE(report) << report.error().message;
  for (const lint::Finding& finding : report->findings) {
    EXPECT_EQ(finding.severity, lint::Severity::Warning) << finding.rule << ": " << finding.message;
    EXPECT_NE(finding.rule, "launch-bound") << finding.message;
  }
  EXPECT_EQ(report->kill_rate.value_or(0), 1);
}

class Suites : public testing::TestWithParam<std::string> {};

TEST_P(Suites, TasksAreWorthAKernel) {
  const Carried suite(GetParam());
  for (size_t i = 0; i < suite.tasks().size(); ++i) {
    const task_formats::SuiteTask& row = suite.tasks()[i];
    SCOPED_TRACE(row.name);
    const auto task = task_formats::load_task(row.path);
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->name, row.name);
    expect_described(*task, GetParam());
    if (i % lint_step(GetParam()) == 0) expect_clean(*task);
  }
}

INSTANTIATE_TEST_SUITE_P(Carried, Suites, testing::ValuesIn(suite_names()),
                         [](const testing::TestParamInfo<std::string>& row) { return row.param; });

}  // namespace
}  // namespace kw::suites_tests
