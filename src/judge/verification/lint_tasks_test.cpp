// Good and bad tasks, each with the rule that must report it.
#include "verification/lint_tasks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "os/files.h"
#include "task_formats/load.h"
#include "truth/interpreter.h"

namespace kw::verification {
namespace {

struct Case {
  const char* name;
  const char* source;
  const char* rule;  // "": no finding
  bool usable;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Result<lint::Report> lint_text(const std::string& source) {
  const task::Task task = KW_TRY(task_formats::load_python(source, "task.py"));
  truth::Interpreter oracle;
  return lint::lint(task, oracle, {});
}

class Lint : public ::testing::TestWithParam<Case> {};

TEST_P(Lint, FindsWhatMakesATaskUseless) {
  const Result<lint::Report> report = lint_text(GetParam().source);
  ASSERT_TRUE(report) << report.error().message;
  std::string said;
  bool found = false;
  for (const lint::Finding& finding : report->findings) {
    if (finding.rule == "launch-bound") continue;  // these tasks are small on purpose
    said += finding.rule + ": " + finding.message + "\n";
    found = found || finding.rule == GetParam().rule;
  }
  EXPECT_EQ(report->usable(), GetParam().usable) << said;
  if (GetParam().rule[0] == '\0') {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_TRUE(found) << "said only:\n" << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tasks, Lint,
    ::testing::Values(
        Case{"Softmax", "import torch\ndef f(x: 'fp32[B, D]'):\n  return torch.softmax(x, -1)\n",
             "", true},
        Case{"RmsNorm",
             "import torch\ndef f(x: 'fp16[B, D]', w: 'fp16[D]'):\n"
             "  v = x.float()\n"
             "  return (v * torch.rsqrt((v * v).mean(-1, keepdim=True) + 1e-5) * "
             "w.float()).half()\n",
             "", true},
        Case{"RowSum", "def f(x: 'fp32[B, D]'):\n  return x.sum(-1)\n", "", true},
        Case{"UnusedInput",
             "import torch\ndef f(x: 'fp32[B, D]', z: 'fp32[B, D]'):\n  return torch.relu(x)\n",
             "input-impact", false},
        Case{"UnusedWeight",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n"
             "  def __init__(self):\n    super().__init__()\n    self.used = nn.Linear(64, 64)\n"
             "    self.spare = nn.Linear(64, 64)\n"
             "  def forward(self, x):\n    return self.used(x)\n"
             "def get_inputs():\n  return [torch.randn(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "init-impact", true},
        Case{"SumOfAll", "def f(x: 'fp32[B, D]'):\n  return x.sum()\n", "", true},
        Case{"TopOne", "def f(x: 'fp32[B, D]'):\n  return x.topk(1, dim=-1).values\n", "", true},
        Case{"AlphaOfOne",
             "import torch.nn.functional as F\ndef f(x: 'fp32[B, D]'):\n  return F.celu(x)\n", "",
             true},
        Case{"MeanOfNormalised",
             "import torch.nn.functional as F\ndef f(x: 'fp32[B, C, L]'):\n"
             "  return F.group_norm(x, 1).mean(dim=(1, 2))\n",
             "constant-output", false},
        Case{"SoftmaxOverOne",
             "import torch\ndef f(x: 'fp32[B, D]'):\n"
             "  return torch.softmax(x.sum(-1, keepdim=True), -1)\n",
             "output-range", false},
        Case{"InputUnused", "def f(x: 'fp32[N]', z: 'fp32[N]'):\n  return x * 2 + z * 0\n",
             "input-impact", false},
        Case{"ClampNeverClamps",
             "import torch\ndef f(x: 'fp32[N]'):\n  return torch.clamp(x, -1e6, 1e6) * 3\n",
             "inactive-op", true},
        Case{"TimesOne", "def f(x: 'fp32[N]'):\n  return (x * 1.0).exp()\n", "inactive-op", true},
        Case{"Broadcast",
             "def f(x: 'fp32[B, D]'):\n  return x.mean(-1, keepdim=True).expand(x.shape[0], "
             "x.shape[1]) * 2\n",
             "axis-variation", true},
        Case{"AnyOfBools", "def f(x: 'bool[B, D]'):\n  return x.any(-1)\n", "", true},
        Case{"AllOfBools", "def f(x: 'bool[B, D]'):\n  return x.all(-1)\n", "", true},
        Case{"NotFinite", "import torch\ndef f(x: 'fp32[N]'):\n  return torch.log(-x * x - 1)\n",
             "finite-outputs", false},
        Case{"SoftmaxOfLongRows",
             "import torch\nB = 64\nD = 400000\n"
             "def f(x: 'fp32[B, D]'):\n  return torch.softmax(x, -1)\n",
             "below-tolerance", true},
        Case{"MeanSquare",
             "B = 32768\nD = 32768\n"
             "def f(x: 'fp32[B, D]', z: 'fp32[B, D]'):\n  return ((x - z) ** 2).mean()\n",
             "sampled-answer", true},
        Case{"MeanOfOne",
             "B = 8192\nD = 4096\n"
             "def f(x: 'fp32[B, D]'):\n  return x.unsqueeze(1).mean(1) + x\n",
             "trivial-reduction", true},
        Case{"MaximumMinusItsMean",
             "B = 1024\nD = 8192\n"
             "def f(x: 'fp32[B, D]'):\n  m = x.max(dim=1, keepdim=True).values\n"
             "  return m - m.mean(dim=1, keepdim=True)\n",
             "output-range", false},
        Case{"NormAtIdentity",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n"
             "  def __init__(self):\n    super().__init__()\n    self.norm = nn.BatchNorm1d(64)\n"
             "    self.norm.eval()\n"
             "  def forward(self, x):\n    return torch.sin(self.norm(x))\n"
             "def get_inputs():\n  return [torch.randn(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "hidden-op", true},
        Case{"BiasOfZeros",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n"
             "  def __init__(self):\n    super().__init__()\n    self.fc = nn.Linear(64, 64)\n"
             "    nn.init.zeros_(self.fc.bias)\n"
             "  def forward(self, x):\n    return self.fc(x)\n"
             "def get_inputs():\n  return [torch.randn(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "constant-init", true},
        Case{"BiasOfItsOwn",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n"
             "  def __init__(self):\n    super().__init__()\n    self.fc = nn.Linear(64, 64)\n"
             "    nn.init.zeros_(self.fc.bias)\n    nn.init.normal_(self.fc.bias)\n"
             "  def forward(self, x):\n    return self.fc(x)\n"
             "def get_inputs():\n  return [torch.randn(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "", true},
        Case{"ScaleOfOnes",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n"
             "  def __init__(self):\n    super().__init__()\n"
             "    self.scale = nn.Parameter(torch.ones(64) * 0.5)\n"
             "  def forward(self, x):\n    return x * self.scale\n"
             "def get_inputs():\n  return [torch.randn(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "constant-init", true},
        Case{"ReluOfWhatIsPositive",
             "import torch\nfrom torch import nn\n"
             "class Model(nn.Module):\n  def forward(self, x):\n    return torch.relu(x)\n"
             "def get_inputs():\n  return [torch.rand(16, 64)]\n"
             "def get_init_inputs():\n  return []\n",
             "hidden-op", true},
        Case{"Saturated", "import torch\ndef f(x: 'fp32[B, D]'):\n  return torch.tanh(x * 1e6)\n",
             "saturated-output", true},
        Case{"NotSaturated", "import torch\ndef f(x: 'fp32[B, D]'):\n  return torch.tanh(x)\n", "",
             true},
        Case{"DiagonalAsAMatrix",
             "import torch\ndef f(a: 'fp32[N]', b: 'fp32[N, M]'):\n  return torch.diag(a) @ b\n",
             "idle-work", true},
        Case{"OneLongRow",
             "import torch\nB = 1\nD = 4194304\n"
             "def f(x: 'fp32[B, D]'):\n  return torch.nn.functional.layer_norm(x, (x.shape[1],))\n",
             "few-rows", true},
        Case{"Rounded",
             "import torch\ndef f(x: 'fp32[B, D]'):\n  return torch.sign(x - x.clone() * 1.0)\n",
             "output-range", false}),
    [](const auto& row) { return row.param.name; });

TEST(LintTasks, AnUnreadableTaskIsAFinding) {
  truth::Interpreter oracle;
  const auto reports = lint_tasks({{"no/such/task.py", "", {}, {}}}, {}, oracle);
  ASSERT_TRUE(reports) << reports.error().message;
  ASSERT_EQ(reports->size(), 1u);
  EXPECT_FALSE((*reports)[0].usable());
  EXPECT_EQ((*reports)[0].findings.at(0).rule, "unreadable");
}

/// A folder that is deleted after the test.
class LintFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "kw_lint_folder_" + std::to_string(::getpid());
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(root_) / name;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(os::write_file(path, text));
  }
  /// "task verdict: rules" of every report.
  std::vector<std::string> rows() {
    truth::Interpreter oracle;
    lint::LintOptions options;
    options.work = 3e5;
    const auto reports = lint_tasks({{root_, "", {}, {}}}, options, oracle);
    EXPECT_TRUE(reports) << reports.error().message;
    std::vector<std::string> rows;
    for (const lint::Report& report : *reports) {
      std::set<std::string> rules;
      for (const lint::Finding& finding : report.findings) rules.insert(finding.rule);
      rows.push_back(report.task + " " + report.verdict() + ":");
      for (const std::string& rule : rules) rows.back() += " " + rule;
    }
    return rows;
  }

  std::string root_;
};

constexpr const char* kEmptyLists =
    "\"single_init_configs\": [{}], \"single_shared_configs\": [{}], "
    "\"multi_init_configs\": [{}, {}], \"multi_shared_configs\": [{}]";

TEST_F(LintFolder, EveryTaskIsARow) {
  const std::string head = "import torch\nfrom torch import nn\n";
  const std::string tail = "def get_inputs():\n  return [torch.randn(4096, 2048)]\n";
  write("level1/1_Relu.py", head +
                                "class Model(nn.Module):\n  def forward(self, x):\n"
                                "    return torch.relu(x)\n" +
                                tail);
  write("level1/2_Zero.py", head +
                                "class Model(nn.Module):\n  def forward(self, x):\n"
                                "    m = x.amax(1, keepdim=True)\n"
                                "    return m - m.mean(1, keepdim=True)\n" +
                                tail);
  write("level1/3_Broken.py", "class Model(:\n");
  const std::string robust =
      head +
      "def forward_fn(x):\n  return torch.sigmoid(x)\n"
      "class Model(nn.Module):\n  def forward(self, x, fn=forward_fn):\n    return fn(x)\n"
      "def get_inputs(n: int = 64):\n  return [torch.randn(n, 4096)]\n"
      "input_names = ['x']\n";
  write("tasks/odd/func_forward.py", robust);
  write("tasks/odd/config_forward.json",
        std::string("{\"single_input_configs\": [{\"n\": 4096, \"m\": 3}], "
                    "\"multi_input_configs\": [{\"n\": 7}], ") +
            kEmptyLists + "}");
  EXPECT_EQ(rows(), (std::vector<std::string>{
                        "level1.1_Relu fine:",
                        "level1.2_Zero degenerate: constant-output input-impact kill-rate "
                        "output-range trivial-reduction",
                        "level1.3_Broken unreadable: unreadable",
                        "tasks.odd degenerate: config-contradiction config-duplicate",
                    }));
}

TEST(LintTime, WhatWasNotDoneIsListed) {
  const auto task = task_formats::load_python(
      "import torch\ndef f(x: 'fp32[B, D]'):\n  return torch.softmax(x, -1)\n", "task.py");
  ASSERT_TRUE(task);
  truth::Interpreter oracle;
  lint::LintOptions options;
  options.seconds = 1e-9;
  const auto report = lint::lint(*task, oracle, options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->kill_rate.has_value());
  ASSERT_FALSE(report->left_out.empty());
  EXPECT_EQ(report->left_out.back(), "imposters: out of time");
}

TEST(LintSarif, NamesRuleFileAndLine) {
  lint::Report report;
  report.path = "task.py";
  report.findings.push_back({"inactive-op", lint::Severity::Warning, "clamp", "never", "N=8", 4});
  const Json sarif = lint::to_sarif(std::vector{report}, "1.2");
  const Json& run = sarif["runs"].items().at(0);
  EXPECT_EQ(run["tool"]["driver"]["rules"].items().size(), lint::rules().size());
  const Json& result = run["results"].items().at(0);
  EXPECT_EQ(result["ruleId"].as_string(), "inactive-op");
  EXPECT_EQ(result["level"].as_string(), "warning");
  const Json& place = result["locations"].items().at(0)["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"].as_string(), "task.py");
  EXPECT_EQ(place["region"]["startLine"].as_int(), 4);
}

}  // namespace
}  // namespace kw::verification
