// References that only PyTorch can read, end to end: exported, imported, cross-checked, judged on
// the virtual GPU.
#include "reference/export_reference.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/files.h"
#include "reference/load_reference.h"
#include "torch_worker/test_torch.h"
#include "truth/interpreter.h"
#include "verification/cross_check.h"

namespace kw::verification {
namespace {

std::shared_ptr<torch_worker::TorchProcess> exporter() { return torch_worker::shared_torch(); }

std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "kw_export_" + std::to_string(::getpid()) + name;
  EXPECT_TRUE(os::write_file(path, text));
  return path;
}

struct ExportCase {
  const char* name;
  const char* text;
  std::vector<std::string> inputs;
  std::map<std::string, int64_t> dims;
  std::vector<std::string> specs;  // "x fp32[B, D]"
  bool compared = true;            // with PyTorch, in every run
};

std::vector<std::string> specs_of(const task::Task& task) {
  std::vector<std::string> specs;
  for (const task::TensorSpec& spec : task.inputs) {
    std::string text = spec.name + " " + tensor::dtype_name(spec.dtype) + "[";
    for (size_t i = 0; i < spec.shape.size(); ++i) text += (i > 0 ? ", " : "") + spec.shape[i];
    specs.push_back(text + "]");
  }
  return specs;
}

class TorchExported : public testing::TestWithParam<ExportCase> {};

TEST_P(TorchExported, MeanWhatPyTorchSays) {
  if (exporter() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const auto inputs = task_formats::parse_input_options(GetParam().inputs);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const task_formats::LoadRequest request{"", *inputs, GetParam().dims, {}, {}};
  const auto task =
      reference::load_exported(GetParam().text, "/nowhere/reference.py", request, exporter(), "no");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(specs_of(*task), GetParam().specs);
  // Each shape is exported again, which takes seconds. Similar cases are not all compared.
  if (!GetParam().compared && os::env("KW_TORCH_ALL").empty()) return;
  truth::Interpreter interpreter;
  const auto checked = cross_check_reference(*task, {CrossCheckMode::Always, "1", ""},
                                             cross_check_torch(interpreter, *exporter()));
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->state, CrossCheckState::Agrees) << checked->text();
}

constexpr const char* kTry =
    "import torch\n"
    "def reference(x, w, eps=1e-5):\n"
    "    try:\n"
    "        y = x.float()\n"
    "    finally:\n"
    "        pass\n"
    "    return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + eps) * w).to(x.dtype)\n";

INSTANTIATE_TEST_SUITE_P(
    All, TorchExported,
    testing::Values(ExportCase{"function",
                               kTry,
                               {"x:fp16[B,D]", "w:fp16[D]"},
                               {{"B", 24}, {"D", 96}},
                               {"x fp16[B, D]", "w fp16[D]"},
                               false},
                    ExportCase{"lambda",
                               "import torch\nREFERENCE = lambda x: torch.sin(x).sum(-1)\n",
                               {"x:fp32[B,D]"},
                               {{"B", 6}, {"D", 40}},
                               {"x fp32[B, D]"},
                               false},
                    ExportCase{"builtin",
                               "import torch\nreference = torch.softmax\n",
                               {"x:fp32[B,D]", "dim=1"},
                               {{"B", 6}, {"D", 40}},
                               {"x fp32[B, D]"},
                               false},
                    ExportCase{"annotated",
                               "import torch\ndef f(x: 'fp32[N]'):\n    return x * 2 + 1\n",
                               {},
                               {{"N", 100}},
                               {"x fp32[N]"},
                               false},
                    ExportCase{"decides_by_shape",
                               "import torch\n"
                               "def f(x):\n"
                               "    if x.shape[0] > 10:\n"
                               "        return x + 1\n"
                               "    return x - 1\n",
                               {"x:fp32[N]"},
                               {{"N", 100}},
                               {"x fp32[N]"}},
                    ExportCase{"in_place",
                               "import torch\ndef f(x, out):\n    out.copy_(torch.cumsum(x, 1))\n",
                               {"x:fp32[B,D]", "out:fp32[B,D]"},
                               {{"B", 5}, {"D", 33}},
                               {"x fp32[B, D]"},
                               false},
                    ExportCase{"model",
                               "import torch, torch.nn as nn\n"
                               "batch = 16\n"
                               "width = 24\n"
                               "class Model(nn.Module):\n"
                               "    def __init__(self, n):\n"
                               "        super().__init__()\n"
                               "        self.lin = nn.Linear(n, 2 * n)\n"
                               "        self.register_buffer('k', torch.ones(n))\n"
                               "    def forward(self, x):\n"
                               "        return torch.relu(self.lin(x * self.k))\n"
                               "def get_inputs():\n"
                               "    return [torch.rand(batch, width)]\n"
                               "def get_init_inputs():\n"
                               "    return [width]\n",
                               {},
                               {},
                               {"lin_weight fp32[2 * width, width]", "lin_bias fp32[2 * width]",
                                "k fp32[width]", "x fp32[batch, width]"}}),
    [](const auto& test) { return test.param.name; });

TEST(TorchExportedErrors, NameBothReaders) {
  if (exporter() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  reference::ReferenceRequest request;
  request.path = written("both.py",
                         "import torch\n"
                         "def f(x):\n"
                         "    try:\n"
                         "        return x if x.sum() > 0 else -x\n"
                         "    finally:\n"
                         "        pass\n");
  request.inputs = {"x:fp32[N]"};
  request.torch = exporter();
  const auto task = reference::load_reference(request);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().blame, Blame::Input);
  EXPECT_NE(task.error().message.find("'try' is not supported"), std::string::npos)
      << task.error().message;
  EXPECT_NE(task.error().message.find("torch.export does not read it either"), std::string::npos)
      << task.error().message;
  EXPECT_EQ(task.error().message.find("install torch"), std::string::npos) << task.error().message;
}

TEST(TorchExportedErrors, AskForInputs) {
  if (exporter() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  const auto task =
      reference::load_exported(kTry, "/nowhere/reference.py", {}, exporter(), "refused");
  ASSERT_FALSE(task);
  EXPECT_NE(task.error().message.find("--input x:"), std::string::npos) << task.error().message;
}

}  // namespace
}  // namespace kw::verification
