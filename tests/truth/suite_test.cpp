// The tasks of suites/robust, forward and backward, at two small shapes: truths from our
// kernels on the virtual GPU against the interpreter's. Their relus and pools lie near steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "cases.h"
#include "compile/compile_worker.h"
#include "compile/select.h"
#include "inputs/families.h"
#include "reference/load_reference.h"
#include "truth_gpu/gpu_oracle.h"
#include "vgpu/virtual_gpu.h"

namespace kw::truth_tests {
namespace {

using truth_gpu::GpuOracle;

ports::Compiler* suite_compiler() {
  static const auto opened = compile::select_compiler();
  return opened ? opened->get() : nullptr;
}

Result<std::unique_ptr<ports::Device>> open_suite_device() {
  return std::unique_ptr<ports::Device>(KW_TRY(vgpu::VirtualGpu::open("sm_90")));
}

std::vector<std::string> task_folders() {
  std::vector<std::string> names;
  const std::filesystem::path suite = std::string(KW_SOURCE_DIR) + "/suites/robust";
  for (const auto& entry : std::filesystem::directory_iterator(suite))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class SuiteTruth : public testing::TestWithParam<std::string> {
  void SetUp() override {
    if (suite_compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  }
};

TEST_P(SuiteTruth, IsMadeOnTheDeviceAndSaysWhatTheInterpreterSays) {
  reference::ReferenceRequest request;
  request.path = std::string(KW_SOURCE_DIR) + "/suites/robust/" + GetParam();
  const auto task = reference::load_reference(request);
  ASSERT_TRUE(task) << task.error().message;
  GpuOracle oracle(*suite_compiler(), open_suite_device, {0, 60});
  const std::vector<task::Dims>& shapes = task->correctness_shapes;
  ASSERT_GE(shapes.size(), 2u);
  for (const task::Dims& dims : {shapes[0], shapes[1]}) {
    const auto graph = task->reference->trace(dims);
    ASSERT_TRUE(graph) << graph.error().message;
    for (const char* family : {"normal", "spikes"}) {
      const auto inputs = inputs::draw_inputs(*task, *graph, dims, family, 7);
      ASSERT_TRUE(inputs) << inputs.error().message;
      const auto want = truth::Interpreter().truth(*graph, *inputs, {});
      const auto got = oracle.truth(*graph, *inputs, {});
      ASSERT_TRUE(want && got) << (got ? "" : got.error().message);
      for (size_t k = 0; k < want->size(); ++k)
        EXPECT_EQ(difference((*want)[k], (*got)[k]), "") << family << ": " << (*want)[k].name;
    }
  }
  EXPECT_EQ(oracle.made_by().rfind("4 on", 0), 0u) << oracle.made_by();
}

INSTANTIATE_TEST_SUITE_P(Robust, SuiteTruth, testing::ValuesIn(task_folders()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace kw::truth_tests

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-compile") == 0)
    return kw::compile::compile_worker_main();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
