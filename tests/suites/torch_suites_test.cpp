// PyTorch, where it is installed, computes the carried references as we do: some of them,
// or all with KW_TORCH_ALL=1.
#include <gtest/gtest.h>

#include "carried.h"
#include "os/files.h"
#include "task_formats/load.h"
#include "torch_worker/torch_process.h"
#include "torch_worker/torch_python.h"
#include "truth/interpreter.h"
#include "verification/cross_check.h"

namespace kw::suites_tests {
namespace {

/// One for all suites of a process: it takes seconds to start.
torch_worker::TorchProcess& torch() {
  static torch_worker::TorchProcess process({.many_references = true});
  return process;
}

class TorchSuites : public testing::TestWithParam<std::string> {};

TEST_P(TorchSuites, AgreeWithPyTorch) {
  if (torch_worker::find_torch_python().path.empty())
    GTEST_SKIP() << "no Python with torch was found";
  truth::Interpreter oracle;
  const verification::CrossCheckTorch tools = verification::cross_check_torch(oracle, torch());
  const size_t step = os::env("KW_TORCH_ALL").empty() ? 32 : 1;
  const Carried suite(GetParam());
  const auto tasks = suite.tasks();
  for (size_t i = 0; i < tasks.size(); i += step) {
    const task_formats::SuiteTask& row = tasks[i];
    SCOPED_TRACE(row.name);
    const auto task = task_formats::load_task(row.path);
    ASSERT_TRUE(task) << task.error().message;
    const auto report = verification::cross_check_reference(
        *task, {verification::CrossCheckMode::Always, "test", ""}, tools);
    EXPECT_TRUE(report) << report.error().message;
    if (!report) continue;
    EXPECT_EQ(report->state, verification::CrossCheckState::Agrees) << report->text();
  }
}

INSTANTIATE_TEST_SUITE_P(Carried, TorchSuites, testing::ValuesIn(suite_names()),
                         [](const testing::TestParamInfo<std::string>& row) { return row.param; });

}  // namespace
}  // namespace kw::suites_tests
