// PyTorch, where it is installed, computes every carried reference as we do.
#include <gtest/gtest.h>

#include "carried.h"
#include "engine/cross_check.h"
#include "frontend/load.h"
#include "oracle/interpreter.h"
#include "oracle/torch_process.h"
#include "oracle/torch_python.h"

namespace kw::suites_tests {
namespace {

TEST(TorchSuites, AgreeWithPyTorch) {
  if (oracle::find_torch_python().path.empty()) GTEST_SKIP() << "no Python with torch was found";
  oracle::TorchProcess torch;
  oracle::Interpreter oracle;
  const engine::CrossCheckTorch tools = engine::cross_check_torch(oracle, torch);
  for (const std::string& name : suite_names()) {
    const Carried suite(name);
    for (const evaluation::SuiteTask& row : suite.tasks()) {
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
