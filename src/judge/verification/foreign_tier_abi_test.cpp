#include "host_recording/launcher_abi.h"

#include <gtest/gtest.h>

#include "cuda_import/import.h"
#include "gate/fakes.h"
#include "verification/foreign_tier.h"

namespace kw::verification {
namespace {

Result<host_recording::LauncherAbi> matched(
    const std::string& parameters, const std::map<std::string, std::string>& numbers = {}) {
  const task::Task task = gate::fake_task();
  const cuda_import::LauncherHead head = cuda_import::find_launcher(
      "__global__ void k() {}\nextern \"C\" void solve(" + parameters + ") { k<<<1, 1>>>(); }\n",
      "");
  const graph::Graph graph = KW_TRY(task.reference->trace(task.benchmark_shapes.front()));
  return host_recording::match_launcher(head.parameters, task, graph, numbers);
}

TEST(LauncherAbi, FindsTensorsByNameAndByPlace) {
  const task::Task task = gate::fake_task();
  const auto abi = matched("const float* " + task.inputs[0].name + ", float* result");
  ASSERT_TRUE(abi) << abi.error().message;
  EXPECT_EQ(abi->slots[0].tensor, 0);
  EXPECT_EQ(abi->slots[1].tensor, static_cast<int>(task.inputs.size()));
  EXPECT_EQ(abi->tensors.back().role, kernel::Role::Output);
  EXPECT_EQ(abi->notes.size(), 1u);
}

TEST(LauncherAbi, DimsNumbersAndStreams) {
  const task::Task task = gate::fake_task();
  const auto& [dim, value] = *task.benchmark_shapes.front().begin();
  const auto abi =
      matched("const float* x, float* y, int rows, long long k, float eps, cudaStream_t s",
              {{"rows", dim}, {"k", "7"}, {"eps", "0.5"}});
  ASSERT_TRUE(abi) << abi.error().message;
  EXPECT_EQ(abi->slots[2].factors, std::vector<std::string>{dim});
  EXPECT_EQ(abi->slots[3].bytes, (std::vector<uint8_t>{7, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(abi->slots[4].bytes, (std::vector<uint8_t>{0, 0, 0, 0x3f}));
  EXPECT_EQ(abi->slots[5].bytes, std::vector<uint8_t>(8, 0));
  const graph::Graph graph = *task.reference->trace(task.benchmark_shapes.front());
  const auto call = host_recording::call_at(*abi, task, graph, task.benchmark_shapes.front());
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->tensor_bytes.size(), abi->tensors.size());
  ASSERT_EQ(call->arguments[2].bytes.size(), 4u);
  EXPECT_EQ(call->arguments[2].bytes[0], static_cast<uint8_t>(value));
}

TEST(LauncherAbi, ProductsOfDimsAndTheNumberOfElements) {
  const task::Task task = gate::fake_task();
  const auto& [dim, value] = *task.benchmark_shapes.front().begin();
  const auto abi = matched("const float* x, float* y, int many", {{"many", dim + " * 3"}});
  ASSERT_TRUE(abi) << abi.error().message;
  EXPECT_EQ(abi->slots[2].factors, (std::vector<std::string>{dim, "3"}));
  const graph::Graph graph = *task.reference->trace(task.benchmark_shapes.front());
  const auto call = host_recording::call_at(*abi, task, graph, task.benchmark_shapes.front());
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->arguments[2].bytes[0], static_cast<uint8_t>(value * 3));
  EXPECT_FALSE(matched("const float* x, float* y, int many", {{"many", "what*3"}}));
  const auto counted = matched("const float* x, float* y, int numel");
  ASSERT_TRUE(counted) << counted.error().message;
  EXPECT_EQ(counted->slots[2].factors, counted->tensors.front().shape);
  EXPECT_NE(counted->notes.back().find("number of elements"), std::string::npos);
}

TEST(LauncherAbi, NamesWhatIsOpen) {
  EXPECT_NE(matched("const float* x, float* y, int what").error().message.find("'what'"),
            std::string::npos);
  EXPECT_NE(matched("const float* x").error().message.find("no parameter"), std::string::npos);
  EXPECT_FALSE(matched("const float* x, float* y, float** z"));
  EXPECT_FALSE(matched("const float* a, const float* b, const float* c, const float* d, float* y"));
}

TEST(ForeignTier, KnowsItsFiles) {
  EXPECT_TRUE(is_foreign("a.cu", "void solve() { k<<<1, 1>>>(); }"));
  EXPECT_FALSE(is_foreign("a.cu", "//! kernelwright 1\n__global__ void k() {}"));
  EXPECT_FALSE(is_foreign("a.cu", "just text"));
  EXPECT_TRUE(is_foreign("a.py", "class ModelNew: pass"));
}

}  // namespace
}  // namespace kw::verification
