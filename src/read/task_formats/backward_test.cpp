#include "frontend/backward.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

using Names = std::vector<std::string>;

Result<task::Task> backward_of(const std::string& text,
                               const frontend::BackwardTaskOptions& options = {}) {
  const Result<task::Task> forward = load_python("import torch\n" + text, "ref.py");
  if (!forward) return forward;
  return frontend::backward_task(*forward, options);
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

// Operations that block the gradient: the gradient must equal that of the other text.
struct Detached {
  const char* name;
  const char* text;
  const char* same_as;
};

const Detached kDetached[] = {
    {"method", "return x * x.detach()", "return x * c"},
    {"function", "return torch.exp(x) + torch.detach(x)", "return torch.exp(x) + c"},
    {"straight_through", "return x + (torch.round(x * w) - x).detach()", "return x + c"},
    {"of_a_view", "return x * x.view(-1).detach().view_as(x)", "return x * c"},
    {"no_grad", "with torch.no_grad():\n        y = x * 2\n    return x * (y / 2)",
     "return x * (c * 2 / 2)"},
    {"gradients_again",
     "with torch.no_grad():\n        y = x * 2\n        with torch.enable_grad():\n"
     "            z = x * 3\n    return x * y + z",
     "y = c * 2\n    z = x * 3\n    return x * y + z"},
    {"switched_off", "with torch.set_grad_enabled(False):\n        y = x * 2\n    return x * y",
     "return x * (c * 2)"},
    {"decorated", "@torch.no_grad()\n    def f(v):\n        return v * 2\n    return x * f(x)",
     "return x * (c * 2)"},
    {"written_later", "y = x * 1\n    z = y.detach()\n    y.add_(1)\n    return z * x - x",
     "return (c * 1 + 1) * x - x"},
};

class DetachedTask : public testing::TestWithParam<Detached> {};

TEST_P(DetachedTask, IsAConstant) {
  const auto of = [](const char* body, bool constant) {
    const std::string arguments = constant ? "x: 'fp32[B]', c: 'fp32[B]'" : "x: 'fp32[B]'";
    const std::string more =
        std::string(body).find('w') == std::string::npos ? "" : ", w: 'fp32[B]'";
    auto task =
        backward_of("def reference(" + arguments + more + "):\n    " + body + "\n", {{"x"}});
    EXPECT_TRUE(task) << task.error().message;
    std::string text = task ? graph::print(task->reference->trace({{"B", 3}}).value()) : "";
    // The constant has the value of x; only its origin differs.
    std::string plain;
    for (const std::string& line : split(text, '\n'))
      plain += line.substr(0, line.find("  #")) + "\n";
    return plain;
  };
  const std::string marked = of(GetParam().text, false);
  EXPECT_EQ(marked, replace_all(of(GetParam().same_as, true), "input(c)", "input(x)"));
}

INSTANTIATE_TEST_SUITE_P(References, DetachedTask, testing::ValuesIn(kDetached),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BackwardTask, APaddingRowHasNoGradient) {
  const char* text =
      "import torch.nn.functional as F\n"
      "def reference(i: 'int64[B]', w: 'fp32[V, D]'):\n"
      "    return F.embedding(i, w, padding_idx=1)\n";
  const auto task = backward_of(text);
  ASSERT_TRUE(task) << task.error().message;
  const std::string backward =
      graph::print(*task->reference->trace({{"B", 3}, {"V", 4}, {"D", 2}}));
  EXPECT_NE(backward.find("where("), std::string::npos) << backward;
  const auto forward = load_python("import torch\n" + std::string(text), "ref.py");
  ASSERT_TRUE(forward) << forward.error().message;
  const graph::Graph plain =
      graph::simplify(*forward->reference->trace({{"B", 3}, {"V", 4}, {"D", 2}}));
  EXPECT_EQ(graph::print(plain).find("where("), std::string::npos) << graph::print(plain);
}

struct NoBackward {
  const char* name;
  const char* text;
  const char* message;
};

const NoBackward kNone[] = {
    {"integers", "def reference(x: 'int64[B]'):\n    return x + 1\n", "no float inputs"},
    {"steps", "def reference(x: 'fp32[B]'):\n    return torch.floor(x)\n", "differentiable way"},
    {"detached", "def reference(x: 'fp32[B]'):\n    return torch.exp(x).detach()\n",
     "differentiable way"},
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
  EXPECT_EQ(frontend::forward_function("softmax.backward"), "softmax");
  EXPECT_EQ(frontend::forward_function("backward"), "");
  EXPECT_EQ(frontend::forward_function("softmax"), std::nullopt);
  EXPECT_EQ(frontend::forward_function("my_backward"), std::nullopt);
}

}  // namespace
}  // namespace kw::task_formats
