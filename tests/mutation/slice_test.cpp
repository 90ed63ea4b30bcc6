// A hundred mutants of small kernels, the same in every run: none may survive. The study
// (study.cpp) judges thousands.
#include <gtest/gtest.h>

#include <memory>

#include "compile/compile_worker.h"
#include "laboratory.h"
#include "machine/devices.h"
#include "os/files.h"
#include "sample.h"
#include "truth/interpreter.h"

namespace kw::mutation {
namespace {

constexpr size_t kMutants = 100;
// Kernels of different kinds that are judged quickly.
constexpr const char* kModules[] = {
    "tests/exploits/references/row_max", "tests/exploits/references/clamp_scale",
    "tests/exploits/references/layer_norm", "tests/exploits/references/hardshrink"};

TEST(NvrtcMutants, NoneOfAHundredSurvives) {
  const auto compiler = machine::open_compiler(os::env("KW_TEST_COMPILER"));
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const auto device = machine::open_device({"vgpu", "", 0, {}});
  ASSERT_TRUE(device);
  truth::Interpreter oracle;
  size_t judged = 0;
  for (const char* name : kModules) {
    const auto modules = honest::honest_modules(1, name);
    ASSERT_TRUE(modules);
    ASSERT_FALSE(modules->empty()) << name;
    LaboratorySettings settings;
    settings.sweep_cells = 300;
    settings.aimed_cells = 60;
    settings.whole_budget_seconds = 2;
    auto laboratory = Laboratory::open(modules->front(), **compiler, **device, oracle, settings);
    ASSERT_TRUE(laboratory) << laboratory.error().message;
    for (const Mutation& mutation : sample((*laboratory)->mutations(), 3, 1)) {
      if (judged >= kMutants) break;
      const auto outcome = (*laboratory)->judge(mutation);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_NE(outcome->fate, Fate::Survived) << name << ": " << mutation.key() << "\n"
                                               << outcome->how << ": " << outcome->why;
      ++judged;
    }
  }
  EXPECT_EQ(judged, kMutants);
}

}  // namespace
}  // namespace kw::mutation

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == kw::compile::kWorkerCommand)
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
