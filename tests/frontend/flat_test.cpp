// Flat references: buffers and ints, results written in place. What their lengths, dtypes and
// outputs become, and what is asked for when they cannot be read.
#include <gtest/gtest.h>

#include "core/text.h"
#include "task_formats/load.h"

namespace kw::task_formats {
namespace {

std::string described(const task::Task& task) {
  std::vector<std::string> parts;
  for (const task::TensorSpec& one : task.inputs) {
    parts.push_back(one.name + ":" + tensor::dtype_name(one.dtype) + "[" + join(one.shape, ",") +
                    "]" + (one.written ? "*" : ""));
  }
  for (const task::ScalarSpec& one : task.scalars) parts.push_back(one.name);
  return join(parts, " ") + " -> " + join(task.output_names, " ");
}

struct Flat {
  const char* name;
  const char* text;  // of the file, behind "import torch"
  task::Dims dims;
  std::vector<std::string> inputs;
  const char* expected;  // the task, or what the error says
};

class FlatReferences : public testing::TestWithParam<Flat> {};

TEST_P(FlatReferences, Load) {
  LoadOptions options;
  options.dims = GetParam().dims;
  options.inputs = GetParam().inputs;
  const auto task = load_python(std::string("import torch\n") + GetParam().text, "ref.py", options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(described(*task), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Flat, FlatReferences,
    testing::Values(
        Flat{"copy",
             "def reference(A, B, C, M, N, K):\n"
             "    C.copy_((A.view(M, K) @ B.view(K, N)).view(-1))\n",
             {{"M", 64}, {"N", 128}, {"K", 32}},
             {},
             "A:fp32[K * M] B:fp32[K * N] -> C"},
        Flat{"slice",
             "def reference(A, C, M, N):\n    C[:] = A.reshape(M, N).t().flatten()\n",
             {{"M", 64}, {"N", 128}},
             {},
             "A:fp32[M * N] -> C"},
        Flat{"ellipsis",
             "def reference(x, w, y, B, D):\n    y[...] = (x.view(B, D) * w).view(-1)\n",
             {{"B", 16}, {"D", 128}},
             {},
             "x:fp32[B * D] w:fp32[D] -> y"},
        Flat{"out",
             "def reference(A, B, C, N):\n    torch.mul(A, B, out=C)\n",
             {{"N", 128}},
             {},
             "A:fp32[N] B:fp32[N] -> C"},
        Flat{"view_of_the_output",
             "def reference(A, C, M, N):\n    C.view(N, M).copy_(A.view(M, N).t())\n",
             {{"M", 64}, {"N", 128}},
             {},
             "A:fp32[M * N] -> C"},
        Flat{"in_place",
             "def reference(x, y, N):\n    y += 2 * x\n",
             {{"N", 128}},
             {},
             "x:fp32[N] y:fp32[N]* -> y"},
        Flat{"keywords",
             "def reference(**kwargs):\n"
             "    x, y = kwargs['x'], kwargs[\"y\"]\n"
             "    y.copy_(torch.softmax(x.view(kwargs['B'], kwargs.get('D')), -1).view(-1))\n",
             {{"B", 16}, {"D", 128}},
             {},
             "x:fp32[B * D] -> y"},
        Flat{"keywords_beside_names",
             "def reference(x, y, **others):\n    y.copy_(x * others['N'])\n",
             {{"N", 128}},
             {},
             "x:fp32[N] -> y"},
        Flat{"number",
             "def reference(x, y, alpha, N):\n    y.copy_(alpha * x)\n",
             {{"N", 128}},
             {"alpha=2.5"},
             "x:fp32[N] alpha -> y"},
        Flat{"other_dtype",
             "def reference(x, y, N):\n    y.copy_(x.float())\n",
             {{"N", 128}},
             {"x:fp16[N]"},
             "x:fp16[N] -> y"},
        Flat{"dims_of_the_file",
             "N = 256\ndef reference(x, y, N):\n    y.copy_(x)\n",
             {},
             {},
             "x:fp32[N] -> y"}),
    [](const auto& one) { return one.param.name; });

class FlatRefusals : public testing::TestWithParam<Flat> {};

TEST_P(FlatRefusals, SayWhatToGive) {
  LoadOptions options;
  options.dims = GetParam().dims;
  options.launcher.buffers = {{"A", tensor::DType::Fp32}, {"C", tensor::DType::Fp32}};
  options.launcher.integers = {"M", "N", "K"};
  options.launcher.reals = {"alpha"};
  const auto task = load_python(std::string("import torch\n") + GetParam().text, "ref.py", options);
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().message.find(GetParam().expected), std::string::npos)
      << task.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Flat, FlatRefusals,
    testing::Values(
        Flat{"no_dims",
             "def reference(A, C, M, N):\n    C.copy_(A)\n",
             {},
             {},
             "no value for M, N\n  hint: pass --dims '{\"M\": 1024}' --dims '{\"N\": 1024}'"},
        Flat{"a_dim_is_missing",
             "def reference(A, C, M, K):\n    C.copy_(A.view(M, K).view(-1))\n",
             {{"M", 4}},
             {},
             "no value for K"},
        Flat{"a_number_is_missing",
             "def reference(A, C, alpha, N):\n    C.copy_(alpha * A)\n",
             {{"N", 4}},
             {},
             "no value for alpha\n  hint: pass --input alpha=1.0"},
        Flat{"nothing_is_written",
             "def reference(A, C, N):\n    B = 2 * A\n",
             {{"N", 4}},
             {},
             "returns None and writes to none of its inputs"},
        Flat{"no_lengths_fit",
             "def reference(A, C, M, N):\n    C.copy_(A.view(M, N, 7).sum(-1).view(-1))\n",
             {{"M", 4}, {"N", 8}},
             {},
             "no lengths of the flat buffers A, C were found"},
        Flat{"no_function", "atol = 1\n", {{"N", 4}}, {}, "has no function and no model"}),
    [](const auto& one) { return one.param.name; });

TEST(FlatLaunchers, GiveDtypes) {
  LoadOptions options;
  options.dims = {{"N", 64}};
  options.launcher.buffers = {{"A", tensor::DType::Fp16}, {"C", tensor::DType::Bf16}};
  options.launcher.integers = {"N"};
  const auto task =
      load_python("import torch\ndef reference(A, C, N):\n    C.copy_(A.float().to(C.dtype))\n",
                  "ref.py", options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(described(*task), "A:fp16[N] -> C");
  const auto graph = task->reference->trace({{"N", 64}});
  ASSERT_TRUE(graph);
  EXPECT_EQ((*graph)[graph->outputs[0].node].dtype, tensor::DType::Bf16);
}

TEST(FlatLaunchers, MayBeDescribedBesideTheReference) {
  LoadOptions options;
  options.inputs = {"x:fp32[N]", "other:fp32[N]"};
  const std::string text = "import torch\ndef reference(x):\n    return x + 1\n";
  EXPECT_FALSE(load_python(text, "ref.py", options));
  options.spare_inputs = true;
  const auto task = load_python(text, "ref.py", options);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->inputs.size(), 1U);
}

}  // namespace
}  // namespace kw::task_formats
