// PyTorch and our own graph evaluate tasks of every format. The two must agree.
#include "verification/torch_reference.h"

#include <gtest/gtest.h>

#include "inputs/families.h"
#include "task_formats/load.h"
#include "torch_worker/test_torch.h"
#include "truth/interpreter.h"

namespace kw::verification {
namespace {

torch_worker::TorchProcess* process() { return torch_worker::shared_torch().get(); }

struct TaskCase {
  const char* name;
  const char* text;
  std::vector<std::string> inputs;  // as for --input
  task::Dims dims = {};
};

class TorchTasks : public testing::TestWithParam<TaskCase> {};

TEST_P(TorchTasks, MeanTheSame) {
  if (process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  task_formats::LoadOptions options;
  options.inputs = GetParam().inputs;
  options.dims = GetParam().dims;
  const auto task = task_formats::load_python(GetParam().text, "reference.py", options);
  ASSERT_TRUE(task) << task.error().message;
  const task::Dims dims = task->correctness_shapes.at(0);
  const auto graph = task->reference->trace(dims);
  ASSERT_TRUE(graph) << graph.error().message;
  truth::Interpreter interpreter;
  for (const std::string& family : inputs::families_for(*task)) {
    const auto inputs = inputs::draw_inputs(*task, *graph, dims, family, 1);
    ASSERT_TRUE(inputs) << inputs.error().message;
    const auto checked = cross_check_task(*task, dims, *inputs, interpreter, *process());
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(checked->outcome.kind, torch_worker::TorchKind::Ok)
        << family << ": " << torch_worker::outcome_text(checked->outcome) << "\n"
        << checked->outcome.traceback;
    for (const torch_worker::Mismatch& mismatch : checked->mismatches) {
      ADD_FAILURE() << family << " at " << task::dims_text(dims) << ": "
                    << torch_worker::mismatch_text(mismatch);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TorchTasks,
                         testing::Values(TaskCase{"function",
                                                  "import torch\n"
                                                  "def softmax(x):\n"
                                                  "    return torch.softmax(x, dim=-1)\n",
                                                  {"x:fp16[B,D]"},
                                                  {{"B", 33}, {"D", 65}}},
                                         TaskCase{"helpers_and_scalars",
                                                  "import torch\n"
                                                  "import torch.nn.functional as F\n"
                                                  "def scaled(x, by):\n"
                                                  "    return x * by\n"
                                                  "def reference(x, w, scale=0.5):\n"
                                                  "    y = F.gelu(scaled(x, scale)) + w\n"
                                                  "    return y.sum(-1), y\n",
                                                  {"x:fp32[B,D]", "w:fp32[D]"},
                                                  {{"B", 17}, {"D", 40}}},
                                         TaskCase{
                                             "kernelbench",
                                             "import torch, torch.nn as nn\n"
                                             "batch = 16\n"
                                             "width = 24\n"
                                             "class Model(nn.Module):\n"
                                             "    def __init__(self, n):\n"
                                             "        super().__init__()\n"
                                             "        self.lin = nn.Linear(n, n)\n"
                                             "        self.norm = nn.LayerNorm(n)\n"
                                             "    def forward(self, x):\n"
                                             "        return torch.relu(self.norm(self.lin(x)))\n"
                                             "def get_inputs():\n"
                                             "    return [torch.rand(batch, width)]\n"
                                             "def get_init_inputs():\n"
                                             "    return [width]\n",
                                             {}},
                                         TaskCase{"written_in_place",
                                                  "import torch\n"
                                                  "def reference(x, out):\n"
                                                  "    out.copy_(torch.cumsum(x, dim=1))\n",
                                                  {"x:fp32[B,D]", "out:fp32[B,D]"},
                                                  {{"B", 9}, {"D", 31}}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kw::verification
