// Signatures and graphs from a real PyTorch, if one is installed.
#include "torch_worker/torch_export.h"

#include <gtest/gtest.h>

#include "torch_worker/test_torch.h"

namespace kw::torch_worker {
namespace {

using tensor::DType;

TorchProcess* export_process() { return shared_torch().get(); }

class TorchExport : public testing::Test {
 protected:
  void SetUp() override {
    if (export_process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  }
  static TorchSource source(const std::string& text, const std::string& entry = "") {
    TorchSource made;
    made.text = text;
    made.path = text.empty() ? "" : "/nowhere/reference.py";
    made.entry = entry;
    return made;
  }
  static TorchAnswer exported(const TorchSource& from, std::vector<TorchArgument> arguments,
                              const std::vector<TorchDim>& dims = {}) {
    TorchCall call;
    call.source = from;
    call.arguments = std::move(arguments);
    return export_graph(*export_process(), call, dims, 120);
  }
};

constexpr const char* kModel =
    "import torch, torch.nn as nn\n"
    "batch = 16\n"
    "width = 8\n"
    "rate = 0.5\n"
    "class Model(nn.Module):\n"
    "    def __init__(self, n, eps=1e-5):\n"
    "        super().__init__()\n"
    "        self.lin = nn.Linear(n, n)\n"
    "        self.norm = nn.BatchNorm1d(n, eps=eps)\n"
    "        self.k = torch.tensor([2.0, 3.0])\n"
    "    def forward(self, x, scale: float = 1.0):\n"
    "        return self.norm(self.lin(x)) * self.k[0]\n"
    "def get_inputs():\n"
    "    return [torch.rand(batch, width)]\n"
    "def get_init_inputs():\n"
    "    return [width]\n";

TEST_F(TorchExport, DescribesAModel) {
  TorchSource from = source(kModel);
  from.globals = {{"batch", int64_t{1} << 40}};  // the inputs need not fit into memory
  const TorchAnswer answer = describe(*export_process(), from, 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  const Json& body = answer.body;
  EXPECT_EQ(body["what"].as_string(), "model");
  EXPECT_TRUE(body["training"].as_bool());
  EXPECT_EQ(body["constants"]["width"].as_int(), 8);
  ASSERT_EQ(body["parameters"].items().size(), 2U);
  EXPECT_EQ(body["parameters"].items()[1]["annotation"].as_string(), "float");
  EXPECT_EQ(body["parameters"].items()[1]["default"]["value"].as_double(), 1.0);
  ASSERT_EQ(body["inputs"].items().size(), 1U);
  EXPECT_EQ(body["inputs"].items()[0]["name"].as_string(), "x");
  EXPECT_EQ(body["inputs"].items()[0]["shape"].items()[0].as_int(), int64_t{1} << 40);
  EXPECT_EQ(body["init"].items()[0]["value"].as_int(), 8);
  EXPECT_EQ(body["weights"].items().size(), 7U);
  EXPECT_EQ(body["weights"].items()[0]["name"].as_string(), "lin.weight");
}

TEST_F(TorchExport, DescribesAFunction) {
  const TorchAnswer answer =
      describe(*export_process(),
               source("import torch\ndef f(x, *, dim=-1, mode='up'):\n    return x\n"), 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(answer.body["entry"].as_string(), "f");
  EXPECT_EQ(answer.body["parameters"].items()[1]["kind"].as_string(), "keyword_only");
  EXPECT_EQ(answer.body["parameters"].items()[2]["default"]["value"].as_string(), "up");
}

TEST_F(TorchExport, GivesCoreAtenWithNamedDimsAndLines) {
  const TorchAnswer answer = exported(source("import torch.nn.functional as F\n"
                                             "def helper(y):\n"
                                             "    return F.softmax(y, dim=-1)\n"
                                             "def reference(x, w, scale=2.0):\n"
                                             "    z = helper(x * w) + scale\n"
                                             "    return z.reshape(-1), {'s': z.sum(-1)}\n"),
                                      {zeros_argument("x", DType::Fp16, {4, 6}),
                                       zeros_argument("w", DType::Fp16, {6}),
                                       {"scale", nullptr, 3.0}},
                                      {{"x", 0, "B"}, {"x", 1, "D"}, {"w", 0, "D"}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  const Json& graph = answer.body["graph"];
  EXPECT_EQ(graph["dims"].dump(), R"({"B":4,"D":6})");
  EXPECT_EQ(graph["inputs"].items()[0]["shape"].items()[0]["dim"].as_string(), "B");
  std::vector<std::pair<std::string, int64_t>> ops;
  for (const Json& node : graph["nodes"].items()) {
    ops.emplace_back(node["op"].as_string(), node["line"].as_int());
  }
  const std::vector<std::pair<std::string, int64_t>> want = {{"aten.mul.Tensor", 5},
                                                             {"aten._softmax.default", 3},
                                                             {"aten.add.Tensor", 5},
                                                             {"aten.view.default", 6},
                                                             {"aten.sum.dim_IntList", 6}};
  EXPECT_EQ(ops, want);
  EXPECT_EQ(graph["nodes"].items()[2]["args"].items()[1].as_double(), 3.0);
  EXPECT_EQ(graph["nodes"].items()[3]["results"].items()[0]["shape"].items()[0]["dim"].as_string(),
            "(B * D)");
  EXPECT_EQ(graph["results"].items()[1]["name"].as_string(), "out1.s");
}

TEST_F(TorchExport, LiftsWeightsBuffersAndConstants) {
  const TorchAnswer answer = exported(source(kModel), {zeros_argument("x", DType::Fp32, {16, 8})});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  std::map<std::string, std::string> kinds;
  for (const Json& input : answer.body["graph"]["inputs"].items()) {
    kinds[input["name"].as_string()] = input["kind"].as_string();
  }
  EXPECT_EQ(kinds["lin.weight"], "parameter");
  EXPECT_EQ(kinds["norm.running_mean"], "buffer");
  EXPECT_EQ(kinds["k"], "constant");
  EXPECT_EQ(kinds["x"], "input");
  ASSERT_EQ(answer.outputs.size(), 1U);
  EXPECT_EQ(answer.outputs[0].name, "k");
  EXPECT_EQ(tensor::get_element(answer.outputs[0].tensor, 1), 3.0);
  std::vector<std::string> mutated;
  for (const Json& result : answer.body["graph"]["results"].items()) {
    if (result["kind"].as_string() == "mutation") mutated.push_back(result["target"].as_string());
  }
  EXPECT_EQ(mutated.size(), 3U);
}

TEST_F(TorchExport, TakesAnyCallable) {
  for (const char* entry : {"torch.nn.functional.gelu", "torch.relu", "nn.Softmax(dim=-1)",
                            "lambda x: x.sin()", "torch.Tensor.exp"}) {
    const TorchAnswer answer =
        exported(source("", entry), {zeros_argument("x", DType::Fp32, {2, 3})});
    ASSERT_TRUE(answer.ok()) << entry << ": " << outcome_text(answer.outcome);
    EXPECT_EQ(answer.body["graph"]["nodes"].items().size(), 1U) << entry;
  }
}

TEST_F(TorchExport, FixesWhatCannotStaySymbolic) {
  const TorchAnswer answer =
      exported(source("def f(x):\n    return x.reshape(3, 4).sum() if x.shape[0] == 12 else x\n"),
               {zeros_argument("x", DType::Fp32, {12})}, {{"x", 0, "N"}});
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  EXPECT_EQ(answer.body["graph"]["inputs"].items()[0]["shape"].items()[0].as_int(), 12);
}

TEST_F(TorchExport, SaysWhatTorchRefuses) {
  const TorchAnswer answer =
      exported(source("def f(x):\n    return x * 2 if float(x.sum()) > 0 else x\n"),
               {zeros_argument("x", DType::Fp32, {3})});
  EXPECT_EQ(answer.outcome.kind, TorchKind::Unsupported) << answer.outcome.message;
  EXPECT_NE(answer.outcome.message.find("torch.export refuses"), std::string::npos);
  EXPECT_NE(answer.outcome.traceback.find("line 2"), std::string::npos) << answer.outcome.traceback;
}

TEST_F(TorchExport, TracesEveryCallWithItsPlace) {
  TorchCall call;
  call.source = source(
      "import torch\n"
      "def f(x):\n"
      "    for _ in range(2):\n"
      "        x = x + 1\n"
      "    return torch.relu(x) * x.shape[0]\n");
  tensor::HostTensor x = tensor::make_tensor(DType::Fp32, {2}).value();
  call.arguments = {{"x", &x, {}}};
  const TorchAnswer answer = export_process()->ask("trace", call, Json::object(), 60);
  ASSERT_TRUE(answer.ok()) << outcome_text(answer.outcome);
  std::vector<std::pair<std::string, int64_t>> steps;
  for (const Json& step : answer.body["steps"].items()) {
    steps.emplace_back(step["function"].as_string(), step["line"].as_int());
  }
  const std::vector<std::pair<std::string, int64_t>> want = {
      {"add", 4}, {"add", 4}, {"relu", 5}, {"mul", 5}};
  EXPECT_EQ(steps, want);
  ASSERT_EQ(answer.outputs.size(), 4U);
  EXPECT_EQ(tensor::get_element(answer.outputs[0].tensor, 0), 1.0);
  EXPECT_EQ(tensor::get_element(answer.outputs[3].tensor, 0), 4.0);
}

}  // namespace
}  // namespace kw::torch_worker
