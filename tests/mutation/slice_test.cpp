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

constexpr size_t kMutants = 25;  // of each module
// Kernels of different kinds that are judged quickly.
constexpr const char* kModules[] = {"row_max", "clamp_scale", "layer_norm", "hardshrink"};

class NvrtcMutants : public testing::TestWithParam<const char*> {};

TEST_P(NvrtcMutants, NoneSurvives) {
  const auto compiler = machine::open_compiler(os::env("KW_TEST_COMPILER"));
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const auto device = machine::open_device({"vgpu", "", 0, {}});
  ASSERT_TRUE(device);
  truth::Interpreter oracle;
  const auto modules =
      honest::honest_modules(1, std::string("tests/exploits/references/") + GetParam());
  ASSERT_TRUE(modules);
  ASSERT_FALSE(modules->empty());
  LaboratorySettings settings;
  settings.sweep_cells = 300;
  settings.aimed_cells = 60;
  settings.whole_budget_seconds = 2;
  auto laboratory = Laboratory::open(modules->front(), **compiler, **device, oracle, settings);
  ASSERT_TRUE(laboratory) << laboratory.error().message;
  const std::vector<Mutation> mutants = sample((*laboratory)->mutations(), 3, 1);
  ASSERT_GE(mutants.size(), kMutants);
  for (size_t i = 0; i < kMutants; ++i) {  // of all operators: they come in order
    const Mutation& mutation = mutants[i * mutants.size() / kMutants];
    const auto outcome = (*laboratory)->judge(mutation);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_NE(outcome->fate, Fate::Survived) << mutation.key() << "\n"
                                             << outcome->how << ": " << outcome->why;
  }
}

INSTANTIATE_TEST_SUITE_P(Slice, NvrtcMutants, testing::ValuesIn(kModules),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace kw::mutation

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == kw::compile::kWorkerCommand)
    return kw::compile::compile_worker_main();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
