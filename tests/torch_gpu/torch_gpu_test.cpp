// PyTorch on a real GPU: what it computes there, and its own ways timed beside a candidate. One
// process serves all tests; where torch sees no GPU they are skipped.
#include <gtest/gtest.h>

#include <map>

#include "kernels.h"
#include "program_builder.h"
#include "timing/torch_baselines.h"
#include "torch_worker/torch_python.h"

namespace kw::timing {
namespace {

using tensor::DType;
using tensor::HostTensor;
using torch_worker::TorchKind;

constexpr int64_t kCount = 1 << 20;

HostTensor numbers(int64_t count, double factor) {
  HostTensor made = tensor::make_tensor(DType::Fp32, {count}).value();
  auto* values = reinterpret_cast<float*>(made.data.data());
  for (int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(factor * static_cast<double>(i % 1021));
  }
  return made;
}

/// Empty when torch can use a GPU here, else why not.
std::string why_not(torch_worker::TorchProcess& process) {
  if (torch_worker::find_torch_python().path.empty()) return "no Python here can import torch";
  const torch_worker::TorchAnswer answer = process.hello();
  if (!answer.ok()) return torch_worker::outcome_text(answer.outcome);
  return answer.body["devices"].items().empty() ? "torch sees no GPU here" : "";
}

class TorchGpu : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string reason = why_not(torch());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  static torch_worker::TorchProcess& torch() {
    static torch_worker::TorchProcess process({.many_references = true});
    return process;
  }
  static torch_worker::TorchCall call_of(const std::string& text, const std::string& entry = "") {
    torch_worker::TorchCall call;
    call.source.text = text;
    call.source.path = text.empty() ? "" : "/nowhere/reference.py";
    call.source.entry = entry;
    call.device = "cuda";
    return call;
  }
  static BaselinesTimed timed(const BaselineRequest& request) {
    auto result = time_baselines(torch(), request);
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(result).value() : BaselinesTimed{};
  }
  static ports::TimeProtocol quick() {
    ports::TimeProtocol protocol;
    protocol.max_samples = 20;
    protocol.max_seconds = 0.1;
    return protocol;
  }
};

TEST_F(TorchGpu, RunsThere) {
  const HostTensor x = numbers(1000, 0.25);
  torch_worker::TorchCall call =
      call_of("import torch\ndef f(x):\n    assert x.is_cuda\n    return x * 2\n");
  call.arguments = {{"x", &x, {}}};
  const torch_worker::TorchAnswer answer = torch().run(call, 120);
  ASSERT_TRUE(answer.ok()) << torch_worker::outcome_text(answer.outcome);
  EXPECT_EQ(tensor::get_element(answer.outputs[0].tensor, 7), 3.5);
}

TEST_F(TorchGpu, SaysThatThereIsNoSuchDevice) {
  torch_worker::TorchCall call = call_of("", "torch.relu");
  call.device = "cuda:99";
  EXPECT_EQ(torch().run(call, 120).outcome.kind, TorchKind::NoCuda);
}

TEST_F(TorchGpu, ARuinedContextIsReplaced) {
  const HostTensor x = numbers(16, 1);
  torch_worker::TorchCall call = call_of(
      "import torch\n"
      "def f(x):\n"
      "    index = torch.full((16,), 10 ** 6, device=x.device)\n"
      "    return x[index]\n");
  call.arguments = {{"x", &x, {}}};
  const int before = torch().started();
  const torch_worker::TorchAnswer answer = torch().run(call, 120);
  EXPECT_FALSE(answer.ok());
  call.source.text = "def f(x):\n    return x + 1\n";
  const torch_worker::TorchAnswer after = torch().run(call, 120);
  ASSERT_TRUE(after.ok()) << torch_worker::outcome_text(after.outcome);
  EXPECT_EQ(torch().started(), before + 1);
}

/// c = a + b, as a candidate and as a reference, over a pool of two entries.
struct Addition {
  std::vector<std::vector<HostTensor>> entries;  // a, b, and an empty place for c
  gpu_suite::Case test;
  ports::Compiled compiled;
  BaselineRequest request;

  explicit Addition(int64_t count) {
    const int a = test.add("a", kernel::Role::Input, count, DType::Fp32);
    const int b = test.add("b", kernel::Role::Input, count, DType::Fp32);
    const int c = test.add("c", kernel::Role::Output, count, DType::Fp32);
    test.launch("vector_add", static_cast<uint32_t>((count + 255) / 256), 256,
                {gpu_suite::pointer(a), gpu_suite::pointer(b), gpu_suite::pointer(c),
                 gpu_suite::value<uint32_t>(static_cast<uint32_t>(count))});
    HostTensor none;
    none.dtype = DType::Fp32;
    none.shape = {count};
    for (double factor : {1.0, -0.5}) {
      entries.push_back({numbers(count, factor), numbers(count, 3 * factor), none});
    }
    compiled.kind = ports::ImageKind::Ptx;
    compiled.image = gpu_suite::kKernels;
    BaselineCandidate candidate{&compiled, &test.program, {}};
    for (const auto& entry : entries) {
      candidate.pool.push_back(&entry);
      request.pool.push_back({&entry[0], &entry[1]});
    }
    request.candidates = {candidate};
    request.call.source.entry = "lambda a, b: a + b";
    request.call.device = "cuda";
    request.call.arguments = {{"a", &entries[0][0], {}}, {"b", &entries[0][1], {}}};
  }
};

class TorchGpuSizes : public TorchGpu, public testing::WithParamInterface<int64_t> {};

TEST_P(TorchGpuSizes, BaselinesWriteWhatACandidateWrites) {
  Addition addition(GetParam());
  addition.request.modes = {"eager", "compile", "py:torch.add"};
  addition.request.protocol = quick();
  addition.request.want_outputs = true;
  const BaselinesTimed result = timed(addition.request);
  ASSERT_EQ(result.outcome.kind, TorchKind::Ok) << torch_worker::outcome_text(result.outcome);
  ASSERT_EQ(result.rounds.at(0).status, ports::RunStatus::Completed) << result.rounds.at(0).message;
  ASSERT_EQ(result.rounds.at(0).candidates.size(), 1U);
  ASSERT_EQ(result.rounds.at(0).baselines.size(), 3U);
  EXPECT_FALSE(result.device.uuid.empty());
  std::vector<const ports::TimedResult*> all = {&result.rounds.at(0).candidates[0]};
  for (const BaselineResult& baseline : result.rounds.at(0).baselines) {
    ASSERT_EQ(baseline.outcome.kind, TorchKind::Ok)
        << baseline.mode << ": " << baseline.outcome.message << "\n"
        << baseline.outcome.traceback;
    ASSERT_TRUE(baseline.timed.has_value()) << baseline.mode;
    ASSERT_EQ(baseline.outputs.size(), 1U);
    EXPECT_EQ(tensor::get_element(baseline.outputs[0].tensor, 5), 20.0) << baseline.mode;
    EXPECT_FALSE(baseline.host_us.empty());
    all.push_back(&*baseline.timed);
  }
  std::map<int, uint64_t> by_entry;
  for (const ports::TimedResult* each : all) {
    EXPECT_EQ(each->samples.microseconds.size(), all[0]->samples.microseconds.size());
    EXPECT_EQ(each->samples.method, all[0]->samples.method);
    EXPECT_EQ(each->samples.buffer_sets, all[0]->samples.buffer_sets);
    for (const record::CallAudit& audit : each->audits) {
      ASSERT_EQ(audit.hashes.size(), 1U);
      EXPECT_EQ(by_entry.emplace(audit.entry, audit.hashes[0]).first->second, audit.hashes[0]);
    }
  }
  EXPECT_EQ(by_entry.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(All, TorchGpuSizes, testing::Values(int64_t{1000}, kCount, 64 * kCount));

TEST_F(TorchGpu, ModelsKeepTheirWeights) {
  HostTensor x = numbers(64 * 32, 0.001);
  x.shape = {64, 32};
  HostTensor w = numbers(32 * 32, 0.002);
  w.shape = {32, 32};
  BaselineRequest request;
  request.call = call_of(
      "import torch.nn as nn\n"
      "class Model(nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.lin = nn.Linear(32, 32, bias=False)\n"
      "    def forward(self, x):\n"
      "        return self.lin(x)\n");
  request.call.arguments = {{"x", &x, {}}};
  request.call.weights = {{"lin_weight", &w, {}}};
  request.pool = {{&x, &w}};
  request.modes = {"eager", "compile", "reduce-overhead"};
  request.protocol = quick();
  request.want_outputs = true;
  const BaselinesTimed result = timed(request);
  ASSERT_EQ(result.outcome.kind, TorchKind::Ok) << torch_worker::outcome_text(result.outcome);
  ASSERT_EQ(result.rounds.at(0).status, ports::RunStatus::Completed) << result.rounds.at(0).message;
  torch_worker::TorchCall on_cpu = request.call;
  on_cpu.device = "cpu";
  const torch_worker::TorchAnswer want = torch().run(on_cpu, 120);
  ASSERT_TRUE(want.ok()) << torch_worker::outcome_text(want.outcome);
  for (size_t i = 0; i < 2; ++i) {
    const BaselineResult& baseline = result.rounds.at(0).baselines[i];
    ASSERT_EQ(baseline.outcome.kind, TorchKind::Ok) << baseline.outcome.message;
    ASSERT_TRUE(baseline.timed.has_value());
    for (int64_t e : {0, 100, 2047}) {
      const double right = tensor::get_element(want.outputs[0].tensor, e);
      EXPECT_NEAR(tensor::get_element(baseline.outputs[0].tensor, e), right, 1e-4 * (1 + right));
    }
  }
  const BaselineResult& host_only = result.rounds.at(0).baselines[2];
  EXPECT_EQ(host_only.outcome.kind, TorchKind::Ok) << host_only.outcome.message;
  EXPECT_FALSE(host_only.timed.has_value());
  EXPECT_GE(host_only.host_us.size(), 5U);
}

TEST_F(TorchGpu, ABadModeLeavesTheOthersAlone) {
  Addition addition(1000);
  addition.request.call.source.text =
      "import torch\n"
      "def f(a, b):\n"
      "    return a + b\n"
      "def synchronises(a, b):\n"
      "    return a + b.sum().item()\n"
      "def switches(a, b):\n"
      "    torch.backends.cuda.matmul.allow_tf32 = True\n"
      "    return a + b\n";
  addition.request.call.source.path = "/nowhere/reference.py";
  addition.request.call.source.entry = "f";
  addition.request.modes = {"eager", "py:synchronises", "py:switches", "nonsense", "py:torch.add"};
  addition.request.protocol = quick();
  const BaselinesTimed result = timed(addition.request);
  ASSERT_EQ(result.outcome.kind, TorchKind::Ok) << torch_worker::outcome_text(result.outcome);
  ASSERT_EQ(result.rounds.at(0).baselines.size(), 5U);
  EXPECT_TRUE(result.rounds.at(0).baselines[0].timed.has_value());
  EXPECT_NE(result.rounds.at(0).baselines[1].outcome.kind, TorchKind::Ok);
  EXPECT_EQ(result.rounds.at(0).baselines[2].outcome.kind, TorchKind::Unsupported);
  EXPECT_EQ(result.rounds.at(0).baselines[3].outcome.kind, TorchKind::BadArguments);
  EXPECT_TRUE(result.rounds.at(0).baselines[4].timed.has_value())
      << result.rounds.at(0).baselines[4].outcome.message;
}

}  // namespace
}  // namespace kw::timing
