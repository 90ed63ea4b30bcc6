#include "timing/bench.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "clock/random.h"
#include "gate/fakes.h"
#include "os/files.h"
#include "ports/audit_hash.h"
#include "task_formats/load.h"

namespace kw::timing {
namespace {

using ports::RunStatus;

/// A GPU with a clock: 100 us for the first program, `ratio` times that for others, and hashes of
/// the outputs of `timed_kernel`.
class ClockedDevice : public gate::FakeDevice {
 public:
  ClockedDevice() : FakeDevice(false) {}

  double ratio = 1.1;
  double us = 100;
  Kernel timed_kernel;
  RunStatus status = RunStatus::Completed;
  int timings = 0;
  bool same_bits = true;

  ports::DeviceInfo info() const override {
    ports::DeviceInfo info = FakeDevice::info();
    info.uuid = "GPU-fake";
    info.driver = "1";
    info.l2_bytes = 1000;
    info.dram_gbps = 1000;
    return info;
  }
  Result<ports::RunOutcome> run(ports::ImageId image, const kernel::Program& program,
                                const ports::InputViews& inputs,
                                const ports::RunOptions& asked) override {
    ports::RunOutcome outcome = KW_TRY(FakeDevice::run(image, program, inputs, asked));
    for (uint64_t& hash : outcome.hashes) hash += same_bits ? 0u : salt_++;
    return outcome;
  }
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>& programs,
                                  const ports::TimeProtocol& protocol) override {
    ++timings;
    ports::TimeOutcome outcome;
    outcome.status = status;
    if (status != RunStatus::Completed) outcome.message = "it broke";
    for (size_t p = 0; p < programs.size(); ++p)
      outcome.results.push_back(timed(programs[p], protocol, p == 0 ? us : us * ratio));
    return outcome;
  }

 private:
  ports::TimedResult timed(const ports::TimedProgram& program, const ports::TimeProtocol& protocol,
                           double microseconds) {
    ports::TimedResult result;
    result.samples.method = "events";
    std::vector<std::vector<uint64_t>> hashes;  // by pool entry, always the same
    for (int i = 0; i < protocol.max_samples; ++i) {
      result.samples.microseconds.push_back(microseconds * (1 + 0.001 * random_.real()));
      const auto entry = static_cast<size_t>(i) % program.pool.size();
      if (entry == hashes.size()) {
        const std::vector<tensor::HostTensor> outputs = outputs_of(program, entry);
        hashes.emplace_back();
        for (size_t b = 0; b < outputs.size(); ++b) {
          if (program.program->buffers[b].role == kernel::Role::Output)
            hashes[entry].push_back(ports::audit_hash(outputs[b].data, protocol.hash_seed));
        }
        if (protocol.copies_out > 0 && i == 0)
          result.copied.push_back({i, static_cast<int>(entry), outputs});
      }
      result.audits.push_back({i, static_cast<int>(entry), hashes[entry]});
    }
    return result;
  }
  std::vector<tensor::HostTensor> outputs_of(const ports::TimedProgram& program, size_t entry) {
    std::swap(kernel, timed_kernel);
    auto outcome = FakeDevice::run(1, *program.program, program.pool[entry], {});
    std::swap(kernel, timed_kernel);
    return outcome->buffers;
  }

  clock::Random random_{3};
  uint64_t salt_ = 0;
};

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/kw-bench-test-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    ::setenv("KERNELWRIGHT_CACHE", folder, 1);
    request.verify.module_path = "twice.cu";
    request.verify.reference_path = "twice.py";
    request.quick = true;
    tools.verify = {&compiler, &virtual_gpu, &gpu, &oracle};
    tools.renew = [this] { ++renewed; };
    tools.calibrate = [this]() -> Result<record::Calibration> {
      ++calibrated;
      record::Calibration c;
      c.uuid = "GPU-fake";
      c.driver = "1";
      c.read = c.write = c.copy = c.add = 1000;
      c.peaks = {{"fp32", "fma", 10}};
      return c;
    };
  }
  void TearDown() override { ::unsetenv("KERNELWRIGHT_CACHE"); }

  /// Makes the task one that PyTorch also reads. Returns why not when there is no Python.
  std::string read_twice() {
    auto loaded = task_formats::load_python("def reference(x):\n    return 2 * x + 1\n", "twice.py",
                                            {"", {"x:fp32[B,D]"}, {{"B", 64}, {"D", 64}}});
    if (!loaded) return loaded.error().message;
    task = std::move(loaded).value();
    return "";
  }
  BenchReport bench() {
    auto report = bench_module(gate::kTwice, task, request, tools);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? std::move(report).value() : BenchReport{};
  }
  std::string other_module() {
    const std::string path = folder_ + "/other.cu";
    EXPECT_TRUE(os::write_file(path, gate::kTwice).has_value());
    return path;
  }

  std::string folder_;
  task::Task task = gate::fake_task();
  gate::FakeOracle oracle;
  gate::FakeCompiler compiler;
  gate::FakeDevice virtual_gpu{true};
  ClockedDevice gpu;
  BenchRequest request;
  BenchTools tools;
  int renewed = 0, calibrated = 0;
};

TEST_F(BenchTest, TimesWhatPassed) {
  const BenchReport report = bench();
  EXPECT_TRUE(record::passed(report.verdict));
  ASSERT_TRUE(report.candidate.measurement.has_value()) << report.candidate.problem;
  EXPECT_NEAR(report.candidate.measurement->summary.median, 100, 0.2);
  EXPECT_GT(report.candidate.measurement->audited, 0);
  EXPECT_EQ(report.dims, task.benchmark_shapes[0]);
  EXPECT_NEAR(report.floor.us, 2.0 * 64 * 64 * 4 / 1000e3, 1e-6) << "read once, written once";
  const Json json = to_json(report);
  EXPECT_EQ(json["environment"]["uuid"].as_string(), "GPU-fake");
  EXPECT_GT(json["percent_of_floor"].as_double(), 0);
  EXPECT_FALSE(json["candidate"]["timing"]["samples_us"].items().empty());
  EXPECT_FALSE(json["certified"].as_bool());
}

TEST_F(BenchTest, WhatIsWrongIsNeverTimed) {
  gpu.kernel = [](double x, int64_t i, int64_t) { return 2 * x + (i == 17 ? 0 : 1); };
  const BenchReport report = bench();
  EXPECT_FALSE(record::passed(report.verdict));
  EXPECT_EQ(gpu.timings, 0);
  EXPECT_FALSE(report.candidate.measurement.has_value());
}

TEST_F(BenchTest, OtherOutputsWhenTimedAreRejected) {
  gpu.timed_kernel = [](double, int64_t, int64_t) { return 0.0; };
  const BenchReport report = bench();
  const auto* rejected = std::get_if<record::Rejected>(&report.verdict);
  ASSERT_NE(rejected, nullptr);
  EXPECT_EQ(rejected->stage, record::Stage::Audit);
  EXPECT_NE(rejected->reason.find("not the verified one"), std::string::npos) << rejected->reason;
}

TEST_F(BenchTest, CallsOfANonDeterministicCandidateAreJudgedOneByOne) {
  gpu.same_bits = false;
  BenchReport report = bench();
  EXPECT_TRUE(record::passed(report.verdict));
  EXPECT_FALSE(report.deterministic);
  EXPECT_GT(report.candidate.measurement->judged, 0);
  EXPECT_EQ(report.candidate.measurement->audited, 0);
  gpu.timed_kernel = [](double x, int64_t, int64_t) { return 2 * x + 2; };
  report = bench();
  EXPECT_FALSE(record::passed(report.verdict));
}

TEST_F(BenchTest, ComparesWithAnotherModuleInPairs) {
  request.modules = {other_module()};
  const BenchReport report = bench();
  ASSERT_EQ(report.rivals.size(), 1u);
  ASSERT_TRUE(report.rivals[0].comparison.has_value()) << report.rivals[0].problem;
  EXPECT_EQ(report.rivals[0].comparison->relation, clock::Relation::Faster);
  EXPECT_NEAR(report.rivals[0].comparison->speedup, 1.1, 0.01);
  EXPECT_EQ(report.best_rival(), &report.rivals[0]);
}

TEST_F(BenchTest, CertificationTakesFreshProcesses) {
  request.quick = false;
  request.modules = {other_module()};
  const BenchReport report = bench();
  EXPECT_EQ(renewed, 5) << "three to time in, one for the profiler, one to be rid of it";
  EXPECT_EQ(report.workers, 3);
  EXPECT_EQ(report.rivals.at(0).comparison->workers, 3);
  EXPECT_TRUE(to_json(report)["certified"].as_bool());
}

TEST_F(BenchTest, ACrashOnTheClockIsAVerdict) {
  gpu.status = RunStatus::Hung;
  const BenchReport report = bench();
  const auto* crashed = std::get_if<record::Crashed>(&report.verdict);
  ASSERT_NE(crashed, nullptr);
  EXPECT_NE(crashed->what.find("it broke"), std::string::npos);
}

TEST_F(BenchTest, ImpossibleTimesAreLookedAtAgain) {
  gpu.us = 0.001;  // 32 KiB at 1000 GB/s take 33 ns
  BenchReport report = bench();
  EXPECT_TRUE(record::passed(report.verdict)) << "without evidence it stands";
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("implausibly fast"), std::string::npos);
  EXPECT_EQ(renewed, 1);
}

TEST_F(BenchTest, CalibratesOnce) {
  bench();
  bench();
  EXPECT_EQ(calibrated, 1);
}

TEST_F(BenchTest, WithoutAGpuThereIsAnEstimate) {
  tools.verify.gpu = nullptr;
  virtual_gpu.instead = [](const kernel::Program&,
                           const ports::RunOptions& options) -> std::optional<ports::RunOutcome> {
    if (!options.counters) return std::nullopt;
    ports::RunOutcome outcome;
    record::LaunchCounters counters;
    counters.total.global_load_sectors = counters.total.global_store_sectors = 1000000;
    outcome.counters.push_back(counters);
    return outcome;
  };
  const BenchReport report = bench();
  EXPECT_FALSE(report.candidate.measurement.has_value());
  ASSERT_TRUE(report.estimate.has_value());
  EXPECT_EQ(report.estimate->bound, "l2") << "far more sectors than the task has bytes";
  EXPECT_GT(report.estimate->us, 10);
  EXPECT_FALSE(to_json(report)["estimate"]["is_measurement"].as_bool(true));
}

TEST_F(BenchTest, TorchModesAreTimedBesideTheCandidate) {
  request.torch_modes = {"eager", "compile", "py:missing.thing"};
  if (const std::string why = read_twice(); !why.empty()) GTEST_SKIP() << "no Python here: " << why;
  int asked = 0;
  tools.baselines = [&](const BaselineRequest& ask) -> Result<BaselinesTimed> {
    ++asked;
    BaselineRound timed;
    ports::TimeOutcome own =
        KW_TRY(gpu.time({{1, ask.candidates[0].program, ask.candidates[0].pool}}, ask.protocol));
    timed.candidates = own.results;
    for (size_t mode = 0; mode < ask.modes.size(); ++mode) {
      BaselineResult result;
      result.mode = ask.modes[mode];
      if (mode == 2) {
        result.outcome = {torch_worker::TorchKind::NotFound, "no such thing", ""};
      } else {
        result.timed = own.results[0];
        for (double& us : result.timed->samples.microseconds) us *= mode == 0 ? 2.0 : 0.5;
      }
      timed.baselines.push_back(result);
    }
    return BaselinesTimed{{}, std::vector<BaselineRound>(ask.seeds.size(), timed), {}};
  };
  const BenchReport report = bench();
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(report.rivals.size(), 3u);
  EXPECT_EQ(report.rivals[0].comparison->relation, clock::Relation::Faster);
  EXPECT_EQ(report.rivals[1].comparison->relation, clock::Relation::Slower);
  EXPECT_NE(report.rivals[2].problem.find("no such thing"), std::string::npos);
  EXPECT_EQ(report.best_rival(), &report.rivals[1]);
}

// An error relative to the largest element is allowed for PyTorch. A larger one is not.
TEST_F(BenchTest, ABaselineMayBeRightByTheLargestElement) {
  request.torch_modes = {"eager", "compile", "max-autotune-no-cudagraphs"};
  if (const std::string why = read_twice(); !why.empty()) GTEST_SKIP() << "no Python here: " << why;
  tools.baselines = [&](const BaselineRequest& ask) -> Result<BaselinesTimed> {
    BaselineRound timed;
    ports::TimeOutcome own =
        KW_TRY(gpu.time({{1, ask.candidates[0].program, ask.candidates[0].pool}}, ask.protocol));
    timed.candidates = own.results;
    for (size_t mode = 0; mode < ask.modes.size(); ++mode) {
      tensor::HostTensor y = *ask.call.arguments.at(0).tensor;
      double largest = 0, smallest = 1e30;
      int64_t at = 0;
      for (int64_t i = 0; i < 64 * 64; ++i) {
        const double value = 2 * tensor::get_element(y, i) + 1;
        tensor::set_element(y, i, value);
        largest = std::max(largest, std::fabs(value));
        if (std::fabs(value) < smallest) at = i;
        smallest = std::min(smallest, std::fabs(value));
      }
      const double off[] = {0, 12, 200};
      tensor::set_element(y, at, tensor::get_element(y, at) + off[mode] * 0x1p-24 * largest);
      BaselineResult result;
      result.mode = ask.modes[mode];
      result.timed = own.results[0];
      result.outputs = {{"out0", std::move(y)}};
      timed.baselines.push_back(std::move(result));
    }
    return BaselinesTimed{{}, std::vector<BaselineRound>(ask.seeds.size(), timed), {}};
  };
  const BenchReport report = bench();
  ASSERT_EQ(report.rivals.size(), 3u);
  EXPECT_EQ(report.rivals[0].wrong.value_or("?"), "");
  EXPECT_EQ(report.rivals[1].wrong.value_or("?"), "");
  EXPECT_NE(report.rivals[2].wrong.value_or(""), "");
  EXPECT_EQ(std::ranges::count_if(report.notes,
                                  [](const std::string& note) {
                                    return note.find("to the largest element") != std::string::npos;
                                  }),
            1);
}

struct BaselineFault {
  const char* name;
  torch_worker::TorchOutcome outcome;
  bool whole_process;  // otherwise only the mode
  int asked;           // number of requests in total
};
void PrintTo(const BaselineFault& fault, std::ostream* out) { *out << fault.name; }

class BaselineFaults : public BenchTest, public ::testing::WithParamInterface<BaselineFault> {};

// "compile" has the fault. In some cases it ends the process too.
TEST_P(BaselineFaults, CostTheModeThatMeetsThemAndNothingElse) {
  request.torch_modes = {"eager", "compile", "max-autotune-no-cudagraphs"};
  if (const std::string why = read_twice(); !why.empty()) GTEST_SKIP() << "no Python here: " << why;
  int asked = 0, fresh = 0;
  tools.renew_torch = [&] { ++fresh; };
  tools.baselines = [&](const BaselineRequest& ask) -> Result<BaselinesTimed> {
    ++asked;
    BaselineRound timed;
    ports::TimeOutcome own =
        KW_TRY(gpu.time({{1, ask.candidates[0].program, ask.candidates[0].pool}}, ask.protocol));
    timed.candidates = own.results;
    for (const std::string& mode : ask.modes) {
      BaselineResult result;
      result.mode = mode;
      const bool faulty = mode == "compile";
      if (faulty && GetParam().whole_process) return BaselinesTimed{GetParam().outcome, {}, {}};
      if (faulty) result.outcome = GetParam().outcome;
      if (!faulty) result.timed = own.results[0];
      timed.baselines.push_back(result);
    }
    return BaselinesTimed{{}, std::vector<BaselineRound>(ask.seeds.size(), timed), {}};
  };
  const BenchReport report = bench();
  EXPECT_TRUE(record::passed(report.verdict));
  EXPECT_TRUE(report.candidate.measurement.has_value());
  EXPECT_EQ(asked, GetParam().asked);
  EXPECT_EQ(fresh, asked - 1) << "a process that was lost is not asked again";
  ASSERT_EQ(report.rivals.size(), 3u);
  EXPECT_EQ(report.rivals[1].problem, "failed: " + torch_worker::outcome_text(GetParam().outcome));
  EXPECT_FALSE(report.rivals[1].measurement.has_value());
  for (const size_t fine : {0, 2}) {
    EXPECT_EQ(report.rivals[fine].problem, "") << fine;
    EXPECT_TRUE(report.rivals[fine].comparison.has_value()) << fine;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, BaselineFaults,
    ::testing::Values(
        BaselineFault{"Raises", {torch_worker::TorchKind::Raised, "ValueError: no", ""}, false, 1},
        BaselineFault{
            "WantsTooMuch", {torch_worker::TorchKind::OutOfMemory, "2 TiB wanted", ""}, false, 1},
        BaselineFault{"IsKilled", {torch_worker::TorchKind::Died, "signal 9", ""}, true, 4},
        BaselineFault{"TakesAllMemory",
                      {torch_worker::TorchKind::OutOfMemory, "no host memory", ""},
                      true,
                      4},
        BaselineFault{
            "Hangs", {torch_worker::TorchKind::TimedOut, "no answer in 600 s", ""}, true, 4},
        BaselineFault{"Babbles", {torch_worker::TorchKind::Garbled, "no JSON", ""}, true, 4}),
    [](const auto& row) { return row.param.name; });

TEST_F(BenchTest, AReferenceTorchCannotCallCostsOnlyTheBaselines) {
  request.torch_modes = {"eager"};
  tools.baselines = [](const BaselineRequest&) -> Result<BaselinesTimed> {
    return environment_error("never asked");
  };
  const BenchReport report = bench();
  EXPECT_TRUE(record::passed(report.verdict));
  EXPECT_TRUE(report.candidate.measurement.has_value());
  EXPECT_NE(report.rivals.at(0).problem, "");
}

}  // namespace
}  // namespace kw::timing
