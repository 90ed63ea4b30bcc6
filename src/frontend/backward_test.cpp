#include "frontend/backward.h"

#include <gtest/gtest.h>

#include "frontend/load.h"

namespace kw::frontend {
namespace {

using Names = std::vector<std::string>;

Result<task::Task> backward_of(const std::string& text, const BackwardTaskOptions& options = {}) {
  const Result<task::Task> forward = load_python("import torch\n" + text, "ref.py");
  if (!forward) return forward;
  return backward_task(*forward, options);
}

Names input_names(const task::Task& task) {
  Names names;
  for (const task::TensorSpec& spec : task.inputs) names.push_back(spec.name);
  return names;
}

TEST(BackwardTask, OfAFunction) {
  const auto task = backward_of(
      "def reference(x: 'fp16[B, D]', w: 'fp16[D]', ids: 'int64[B]'):\n"
      "    y = x * w\n"
      "    return y, ids + 1\n");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "ref.backward");
  EXPECT_EQ(input_names(*task), (Names{"x", "w", "grad_y"}));
  EXPECT_EQ(task->output_names, (Names{"grad_x", "grad_w"}));
  EXPECT_EQ(task->inputs.back().shape, (Names{"B", "D"}));
  EXPECT_EQ(task->inputs.back().dtype, tensor::DType::Fp16);
  const auto graph = task->reference->trace({{"B", 3}, {"D", 5}});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph::values_of((*graph)[graph->outputs[1].node].shape), (std::vector<int64_t>{5}));
}

TEST(BackwardTask, BuffersHaveNoGradient) {
  const auto task = backward_of(
      "import torch.nn as nn\n"
      "class Model(nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.bn = nn.BatchNorm1d(6)\n"
      "        self.eval()\n"
      "    def forward(self, x):\n"
      "        return self.bn(x)\n"
      "def get_inputs():\n"
      "    return [torch.randn(4, 6)]\n"
      "def get_init_inputs():\n"
      "    return []\n");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->output_names, (Names{"grad_x", "grad_bn_weight", "grad_bn_bias"}));
}

TEST(BackwardTask, SomeGradientsOnly) {
  const std::string text = "def reference(x: 'fp32[B]', w: 'fp32[B]'):\n    return x * w\n";
  const auto task = backward_of(text, {{"w"}});
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(input_names(*task), (Names{"x", "grad_out0"}));
  EXPECT_EQ(task->output_names, (Names{"grad_w"}));
  const auto unknown = backward_of(text, {{"v"}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no such input; it has: x, w"), std::string::npos)
      << unknown.error().message;
}

TEST(BackwardTask, TheBoundsAreTheForwards) {
  const auto task =
      backward_of("atol = 1e-3\ndef reference(x: 'fp32[B]'):\n    return torch.sin(x)\n");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_FALSE(task->precision.atol.has_value());
}

struct NoBackward {
  const char* name;
  const char* text;
  const char* message;
};

const NoBackward kNone[] = {
    {"integers", "def reference(x: 'int64[B]'):\n    return x + 1\n", "no float inputs"},
    {"steps", "def reference(x: 'fp32[B]'):\n    return torch.floor(x)\n", "differentiable way"},
    {"comparison", "def reference(x: 'fp32[B]'):\n    return x > 0\n", "differentiable way"},
};

class NoBackwardTask : public testing::TestWithParam<NoBackward> {};

TEST_P(NoBackwardTask, SaysWhy) {
  const auto task = backward_of(GetParam().text);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().blame, Blame::Input);
  EXPECT_NE(task.error().message.find(GetParam().message), std::string::npos)
      << task.error().message;
}

INSTANTIATE_TEST_SUITE_P(References, NoBackwardTask, testing::ValuesIn(kNone),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ForwardFunction, NamesWhatIsDifferentiated) {
  EXPECT_EQ(forward_function("softmax.backward"), "softmax");
  EXPECT_EQ(forward_function("backward"), "");
  EXPECT_EQ(forward_function("softmax"), std::nullopt);
  EXPECT_EQ(forward_function("my_backward"), std::nullopt);
}

}  // namespace
}  // namespace kw::frontend
