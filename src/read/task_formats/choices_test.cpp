// Tests what is chosen when a file leaves it open: the function, extents, the mode.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/cost.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

struct Several {
  const char* name;
  const char* file;
  const char* text;
  const char* chosen;  // "": the error lists them
};

class SeveralFunctions : public testing::TestWithParam<Several> {};

TEST_P(SeveralFunctions, OneIsTheReference) {
  const Several& one = GetParam();
  const std::string inputs =
      "def get_inputs():\n    import torch\n    return [torch.randn(4, 8)]\n";
  const auto task = load_python(one.text + inputs, one.file);
  if (*one.chosen == '\0') {
    ASSERT_FALSE(task);
    EXPECT_NE(task.error().message.find("has several functions: "), std::string::npos)
        << task.error().message;
    EXPECT_NE(task.error().message.find(":NAME"), std::string::npos) << task.error().message;
    return;
  }
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->function, one.chosen);
}

INSTANTIATE_TEST_SUITE_P(
    All, SeveralFunctions,
    testing::Values(
        Several{"annotated", "a.py", "def f(x): return x\ndef g(x: 'fp32[B, D]'): return x\n", "g"},
        Several{"uncalled", "a.py", "def f(x): return x\ndef g(x): return f(x) + 1\n", "g"},
        Several{"recursive", "a.py",
                "def f(x, n=2): return x if n == 0 else f(x, n - 1)\ndef g(x): return f(x)\n", "g"},
        Several{"called_by_a_test", "a.py",
                "def h(x): return x\ndef f(x): return h(x)\ndef test_f(): f(1)\n"
                "def main(): f(2)\n",
                "f"},
        Several{"model_over_helper", "a.py",
                "import torch.nn as nn\ndef h(x): return x\n"
                "class Net(nn.Module):\n    def forward(self, x): return h(x)\n",
                "Net"},
        Several{"settings", "a.py",
                "from dataclasses import dataclass\n@dataclass\nclass C:\n    n: int = 2\n"
                "def h(x): return x\ndef f(x): return h(x) * C().n\n",
                "f"},
        Several{"named_like_the_file", "dir/rms-norm.py",
                "def rms_norm(x): return x\ndef other(x): return x\n", "rms_norm"},
        Several{"open", "a.py", "def f(x): return x\ndef g(x): return x\n", ""}),
    [](const auto& one) { return std::string(one.param.name); });

/// The assumed benchmark shape of one annotated function.
task::Dims assumed(const std::string& text, const task::Dims& given = {}, bool gpu = false) {
  LoadOptions options;
  options.dims = given;
  options.has_gpu = [gpu] { return gpu; };
  const auto task = load_python(text, "assumed.py", options);
  EXPECT_TRUE(task) << task.error().message;
  if (!task) return {};
  const graph::Cost cost = graph::cost_of(*task->graph_at(task->benchmark_shapes[0]));
  if (given.empty()) {
    EXPECT_LE(cost.read_bytes + cost.write_bytes, 64.0 * (1 << 20));
    EXPECT_LE(cost.flops, gpu ? 0x1p37 : 0x1p30);
  }
  return task->benchmark_shapes[0];
}

constexpr const char* kProduct = "def f(a: 'fp16[M, K]', b: 'fp16[K, N]'):\n    return a @ b\n";

TEST(AssumedExtents, FitTogether) {
  assumed("def f(x: 'fp16[B, 64, 56, 56]'):\n    return x + 1\n");
  assumed("def f(x: 'fp32[A, B, C, D, E]'):\n    return x.sum(2)\n");
  const task::Dims rows = assumed("def f(x: 'fp32[B, D]'):\n    return x.softmax(-1)\n");
  EXPECT_EQ(task::dims_text(rows), "B=2048 D=4096");
}

TEST(AssumedExtents, AreLargerWithAGpu) {
  const task::Dims small = assumed(kProduct), large = assumed(kProduct, {}, true);
  EXPECT_GT(large.at("M") * large.at("N") * large.at("K"),
            small.at("M") * small.at("N") * small.at("K"));
}

TEST(AssumedExtents, StayNearAGivenOne) {
  const task::Dims dims = assumed(kProduct, {{"M", 100000}});
  EXPECT_EQ(dims.at("M"), 100000);
  EXPECT_LE(dims.at("K") * dims.at("N"), 64 * 64);
}

TEST(AssumedExtents, AreMultiplesOfWhatTheReferenceNeeds) {
  const auto task = load_python(
      "def f(x: 'fp32[B, H]', s: 'fp32[K // 128]'):\n"
      "    return x.view(x.shape[0], x.shape[1] // 7, 7).sum(-1).sum() * s\n",
      "windows.py");
  ASSERT_TRUE(task) << task.error().message;
  const task::Dims& dims = task->benchmark_shapes[0];
  EXPECT_EQ(dims.at("H") % 7, 0);
  EXPECT_EQ(dims.at("K") % 128, 0);
  EXPECT_EQ(task->dims.at("H").multiple, 7);
  EXPECT_EQ(task->dims.at("K").multiple, 128);
  EXPECT_EQ(task->dims.at("K").low, 128);
  EXPECT_EQ(task->dims.at("B").multiple, 1);
  for (const task::Dims& small : task->correctness_shapes) {
    EXPECT_EQ(small.at("H") % 7, 0);
    EXPECT_EQ(small.at("K") % 128, 0);
  }
}

TEST(AssumedExtents, FitGroupsOfHeads) {
  const auto task = load_python(
      "def f(q: 'fp16[B, H, S, D]', k: 'fp16[B, KH, S, D]'):\n"
      "    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)\n"
      "    return q @ k.transpose(2, 3)\n",
      "grouped.py");
  ASSERT_TRUE(task) << task.error().message;
  const task::Dims& dims = task->benchmark_shapes.at(0);
  EXPECT_EQ(dims.at("H") % dims.at("KH"), 0) << task::dims_text(dims);
  EXPECT_GT(dims.at("H"), dims.at("KH"));
}

struct ScalarCase {
  const char* name;
  const char* expression;
  bool runtime;
};

class IntegerScalars : public testing::TestWithParam<ScalarCase> {};

TEST_P(IntegerScalars, AreConstantsOnlyWhereTheyDecide) {
  const auto task =
      load_python(std::string("import torch\nimport torch.nn.functional as F\n"
                              "def f(x: 'fp32[B, S]', n: int = 3, eps: float = 1e-3):\n"
                              "    i = torch.arange(x.shape[1])\n    return ") +
                      GetParam().expression + "\n",
                  "scalar.py");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(std::ranges::any_of(task->scalars, &task::ScalarSpec::runtime), GetParam().runtime);
}

INSTANTIATE_TEST_SUITE_P(
    All, IntegerScalars,
    testing::Values(ScalarCase{"compared", "x * (i < n)", true},
                    ScalarCase{"remainder", "x * (i % n)", true},
                    ScalarCase{"in_a_mask", "torch.where(i[None] == n, x, -x)", true},
                    ScalarCase{"an_index", "x[:, (i + n) % x.shape[1]]", false},
                    ScalarCase{"an_extent", "x[:, :n]", false},
                    ScalarCase{"of_a_norm", "F.normalize(x, eps=max(eps, 1e-6))", true},
                    ScalarCase{"of_a_similarity", "F.cosine_similarity(x, -x, eps=abs(eps))",
                               true}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(IntegerArguments, AreConditionsOfTheTrace) {
  LoadOptions options;
  options.dims = {{"B", 4}, {"D", 12}, {"K", 3}};
  const auto task = load_python(
      "import torch\n"
      "def f(x: 'fp32[B, D]', w: 'fp32[K]'):\n"
      "    return torch.chunk(x, w.shape[0], dim=1)[0] + w.sum()\n",
      "chunks.py", options);
  ASSERT_TRUE(task) << task.error().message;
  const auto graph = task->reference->trace(task->benchmark_shapes.at(0));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_NE(std::ranges::find(graph->guards, "K == 3"), graph->guards.end());
}

TEST(IndexRanges, FollowTheDims) {
  const auto task = load_python(
      "def f(k: 'fp16[T, D]', cache: 'fp16[NB, 16, D]', slots: 'int64[T]'):\n"
      "    cache[slots // 16, slots % 16] = k\n",
      "pages.py");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->find_input("slots")->legal.below, "16 * NB");
  const auto ignoring = load_python(
      "def f(x: 'fp32[N, V]', target: 'int64[N]'):\n"
      "    return x.gather(1, target.clamp(min=0)[:, None]) * (target != -100)[:, None]\n",
      "targets.py");
  ASSERT_TRUE(ignoring) << ignoring.error().message;
  EXPECT_EQ(ignoring->find_input("target")->legal.below, "V");
}

TEST(GivenDims, DoNotMakeTensorsFlat) {
  LoadOptions options;
  options.dims = {{"B", 64}, {"D", 32}};
  const auto task =
      load_python("def f(x):\n    return x.softmax(-1)\n", "no_annotations.py", options);
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().message.find("the inputs of f() are not known: x"), std::string::npos)
      << task.error().message;
}

TEST(EvalMode, KeepsWhatDropoutDrops) {
  const char* text =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
      "class Model(nn.Module):\n"
      "    def __init__(self):\n        super().__init__()\n        self.drop = nn.Dropout(0.5)\n"
      "    def forward(self, x):\n"
      "        return F.dropout(self.drop(x) + 1, 0.1, self.training)\n"
      "def get_inputs():\n    return [torch.randn(4, 8)]\n";
  const auto training = load_python(text, "drop.py");
  ASSERT_FALSE(training);
  EXPECT_NE(training.error().message.find("--mode eval"), std::string::npos)
      << training.error().message;
  LoadOptions options;
  options.evaluation = true;
  const auto evaluating = load_python(text, "drop.py", options);
  EXPECT_TRUE(evaluating) << evaluating.error().message;
}

}  // namespace
}  // namespace kw::task_formats
