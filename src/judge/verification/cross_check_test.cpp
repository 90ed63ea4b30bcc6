// Tests the cross-check with a fake PyTorch, and with PyTorch if it is installed.
#include "verification/cross_check.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "task_formats/load.h"
#include "torch_worker/test_torch.h"
#include "truth/interpreter.h"

namespace kw::verification {
namespace {

using torch_worker::TorchKind;

constexpr const char* kSoftmax =
    "import torch\n"
    "def reference(x):\n"
    "    return torch.softmax(x, dim=-1)\n";

Result<task::Task> softmax_task() {
  task_formats::LoadOptions options;
  options.inputs = {"x:fp32[B,D]"};
  options.dims = {{"B", 32}, {"D", 48}};
  return task_formats::load_python(kSoftmax, "softmax.py", options);
}

/// Gives the same answer to every request and records the requests.
struct FakeTorch {
  torch_worker::FoundPython python{"/opt/python", "2.0.1", {}};
  torch_worker::CrossChecked answer;
  std::vector<std::string> devices;  // devices requested
  int searches = 0;

  CrossCheckTorch port() {
    return {[this] {
              ++searches;
              return python;
            },
            [this](const task::Task&, const task::Dims&, const std::vector<tensor::HostTensor>&,
                   const CallOptions& options) -> Result<torch_worker::CrossChecked> {
              devices.push_back(options.device);
              return answer;
            }};
  }
};

class CrossChecks : public testing::Test {
 protected:
  void SetUp() override {
    Result<task::Task> loaded = softmax_task();
    ASSERT_TRUE(loaded) << loaded.error().message;
    task = std::move(loaded).value();
    options.version = "1";
    options.folder = testing::TempDir() + "kw-cross-check-" +
                     testing::UnitTest::GetInstance()->current_test_info()->name();
    for (const std::string& name : os::list_directory(options.folder + "/cross-check"))
      ASSERT_TRUE(os::remove_file(options.folder + "/cross-check/" + name));
  }
  Result<CrossCheckReport> check() { return cross_check_reference(task, options, torch.port()); }

  task::Task task;
  CrossCheckOptions options;
  FakeTorch torch;
};

TEST_F(CrossChecks, RefuseAReferenceThatIsReadDifferently) {
  torch_worker::Mismatch mismatch;
  mismatch.output = "out";
  mismatch.why = "out[0, 1] is 2, not 1";
  mismatch.line = 3;
  mismatch.column = 12;
  mismatch.ours = "torch.softmax(x, dim=-1)";
  mismatch.torchs = "torch.softmax";
  mismatch.step_why = "[0, 1] is 2, not 1";
  torch.answer.mismatches = {mismatch};
  const auto report = check();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::Input);
  for (const char* part : {"softmax.py", "line 3, column 12", "torch.softmax(x, dim=-1)", "normal"})
    EXPECT_NE(report.error().message.find(part), std::string::npos) << report.error().message;
  torch.answer.mismatches.clear();
  const auto mended = check();  // a refusal is not cached
  ASSERT_TRUE(mended);
  EXPECT_EQ(mended->state, CrossCheckState::Agrees);
}

TEST_F(CrossChecks, RememberAgreement) {
  const auto first = check();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->state, CrossCheckState::Agrees);
  EXPECT_EQ(first->torch, "2.0.1");
  EXPECT_FALSE(first->shapes.empty());
  EXPECT_EQ(torch.devices.size(), first->shapes.size() * first->families.size());
  torch.devices.clear();
  const auto second = check();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state, CrossCheckState::Remembered);
  EXPECT_EQ(second->shapes, first->shapes);
  EXPECT_TRUE(torch.devices.empty());
}

TEST_F(CrossChecks, ForgetWhatAnotherProgramOrTorchAgreedOn) {
  ASSERT_TRUE(check());
  options.version = "2";
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);
  torch.python.version = "2.1.0";
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);
  torch.python.path = "/usr/bin/python3";
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);
  EXPECT_EQ(check()->state, CrossCheckState::Remembered);
  options.mode = CrossCheckMode::Always;
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);
}

TEST_F(CrossChecks, DoNotTrustADamagedMemory) {
  ASSERT_TRUE(check());
  const std::string folder = options.folder + "/cross-check";
  const auto names = os::list_directory(folder);
  ASSERT_EQ(names.size(), 1u);
  ASSERT_TRUE(os::write_file(folder + "/" + names[0], "{\"format\": \"cross"));
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);
}

TEST_F(CrossChecks, SayThatThereIsNoTorch) {
  torch.python = {};
  const auto report = check();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text(), "not cross-checked: no PyTorch here");
  options.mode = CrossCheckMode::Always;
  const auto demanded = check();
  ASSERT_FALSE(demanded);
  EXPECT_EQ(demanded.error().blame, Blame::Environment);
}

TEST_F(CrossChecks, AskNobodyWhenToldNotTo) {
  options.mode = CrossCheckMode::Never;
  const auto report = check();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->text(), "not cross-checked: --cross-check never");
  EXPECT_EQ(torch.searches, 0);
  EXPECT_TRUE(torch.devices.empty());
}

struct OutcomeCase {
  const char* name;
  TorchKind kind;
  const char* message;
  bool refused;  // otherwise a note
  size_t asked;
};

class CrossCheckOutcomes : public CrossChecks, public testing::WithParamInterface<OutcomeCase> {};

TEST_P(CrossCheckOutcomes, AreErrorsOnlyWhereTheReferenceIsToBlame) {
  torch.answer.outcome = {GetParam().kind, GetParam().message, ""};
  const auto report = check();
  EXPECT_EQ(torch.devices.size(), GetParam().asked);
  if (GetParam().refused) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().blame, Blame::Input);
    EXPECT_NE(report.error().message.find(GetParam().message), std::string::npos);
    return;
  }
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->state, CrossCheckState::NotChecked);
  EXPECT_NE(report->text().find(GetParam().message), std::string::npos) << report->text();
  torch.answer.outcome = {};
  EXPECT_EQ(check()->state, CrossCheckState::Agrees);  // nothing was cached
}

INSTANTIATE_TEST_SUITE_P(
    All, CrossCheckOutcomes,
    testing::Values(OutcomeCase{"raised", TorchKind::Raised, "ValueError: no such mode", true, 1},
                    OutcomeCase{"bad_return", TorchKind::BadReturn, "it returned None", true, 1},
                    OutcomeCase{"bad_source", TorchKind::BadSource, "NameError: y", true, 1},
                    OutcomeCase{"half_on_cpu", TorchKind::Raised,
                                "RuntimeError: \"erfinv\" not implemented for 'Half'", false, 2},
                    OutcomeCase{"wants_cuda", TorchKind::Raised,
                                "AssertionError: Torch not compiled with CUDA", false, 2},
                    OutcomeCase{"hangs", TorchKind::TimedOut, "no answer within 30 s", false, 1},
                    OutcomeCase{"memory", TorchKind::OutOfMemory, "it wanted 1 TiB", false, 1},
                    OutcomeCase{"missing", TorchKind::MissingModule, "No module named 'flash'",
                                false, 1},
                    OutcomeCase{"dies", TorchKind::Died, "killed by signal 11", false, 1}),
    [](const auto& test) { return test.param.name; });

TEST(CrossCheckMode, Names) {
  EXPECT_EQ(*cross_check_mode("always"), CrossCheckMode::Always);
  const auto wrong = cross_check_mode("sometimes");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().blame, Blame::Input);
}

TEST(TorchCrossChecks, AgreeOnceAndRemember) {
  if (torch_worker::find_torch_python().path.empty())
    GTEST_SKIP() << "no Python here can import torch";
  const auto task = softmax_task();
  ASSERT_TRUE(task);
  truth::Interpreter interpreter;
  torch_worker::TorchProcess process;
  CrossCheckOptions options{CrossCheckMode::Always, "1",
                            testing::TempDir() + "kw-cross-check-torch"};
  const auto first = cross_check_reference(*task, options, cross_check_torch(interpreter, process));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->state, CrossCheckState::Agrees);
  EXPECT_EQ(process.started(), 1);
  torch_worker::TorchProcess unused;
  options.mode = CrossCheckMode::Auto;
  const auto second = cross_check_reference(*task, options, cross_check_torch(interpreter, unused));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state, CrossCheckState::Remembered);
  EXPECT_EQ(unused.started(), 0);
}

TEST(TorchCrossChecks, HalfStatisticsOfTheCpuAreANote) {
  if (!torch_worker::shared_torch()) GTEST_SKIP() << "no Python here can import torch";
  const auto task = task_formats::load_python(
      "import torch.nn.functional as F\n"
      "def reference(x: 'fp16[N, C, L]'):\n"
      "    return F.instance_norm(x, eps=1e-4)\n",
      "norm.py");
  ASSERT_TRUE(task) << task.error().message;
  truth::Interpreter interpreter;
  const CrossCheckOptions options{CrossCheckMode::Always, "1", ""};
  const auto report = cross_check_reference(
      *task, options, cross_check_torch(interpreter, *torch_worker::shared_torch()));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->state, CrossCheckState::Agrees);
}

}  // namespace
}  // namespace kw::verification
