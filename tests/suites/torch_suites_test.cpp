// PyTorch, where it is installed, computes the carried references as we do: every fifth of them, or
// all with KW_TORCH_ALL=1.
#include <gtest/gtest.h>

#include "carried.h"
#include "engine/cross_check.h"
#include "frontend/load.h"
#include "oracle/interpreter.h"
#include "oracle/torch_process.h"
#include "oracle/torch_python.h"
#include "os/files.h"

namespace kw::suites_tests {
namespace {

TEST(TorchSuites, AgreeWithPyTorch) {
  if (oracle::find_torch_python().path.empty()) GTEST_SKIP() << "no Python with torch was found";
  oracle::TorchProcess torch({.many_references = true});
  oracle::Interpreter oracle;
  const engine::CrossCheckTorch tools = engine::cross_check_torch(oracle, torch);
  const size_t step = os::env("KW_TORCH_ALL").empty() ? 5 : 1;
  for (const std::string& name : suite_names()) {
    const Carried suite(name);
    const auto tasks = suite.tasks();
    for (size_t i = 0; i < tasks.size(); i += step) {
      const evaluation::SuiteTask& row = tasks[i];
      SCOPED_TRACE(name + "/" + row.name);
      const auto task = frontend::load_task(row.path);
      ASSERT_TRUE(task) << task.error().message;
      const auto report =
          engine::cross_check_reference(*task, {engine::CrossCheckMode::Always, "test", ""}, tools);
      EXPECT_TRUE(report) << report.error().message;
      if (!report) continue;
      EXPECT_EQ(report->state, engine::CrossCheckState::Agrees) << report->text();
    }
  }
}

}  // namespace
}  // namespace kw::suites_tests
