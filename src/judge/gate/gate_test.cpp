#include "gate/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gate/fakes.h"
#include "inputs/families.h"
#include "kernel/parse_module.h"

namespace kw::gate {

namespace {

kernel::Module parse_module(const std::string& text) {
  kernel::ParseOutcome outcome = kernel::parse(text, "twice.cu");
  if (!outcome.module)
    throw std::runtime_error(
        cuda_source::render_diagnostics(outcome.diagnostics, text, "twice.cu"));
  return std::move(*outcome.module);
}

class GateTest : public testing::Test {
 protected:
  task::Task task = fake_task();
  FakeOracle oracle;
  FakeCompiler compiler;
  FakeDevice virtual_gpu{true}, gpu{false};
  uint64_t drawn = 1000;
  std::optional<uint64_t> seed;
  std::string family;
  std::optional<Pool> small, large;

  Result<GateReport> judge_text(const std::string& text, bool with_gpu) {
    const Entropy entropy = [this]() -> Result<uint64_t> { return ++drawn; };
    PoolOptions options;
    options.seed = seed;
    options.family = family;
    auto small_plan = shapes::plan_shapes(task, shapes::virtual_limits());
    if (!small_plan) return small_plan.error();
    small.emplace(
        KW_TRY(Pool::make(task, oracle, std::move(small_plan).value(), options, entropy)));
    GateRequest request;
    request.compiler = &compiler;
    const kernel::Bindings fixed = fake_bindings();
    request.virtual_gpu = {&virtual_gpu, fixed, &*small};
    if (with_gpu) {
      shapes::ShapeLimits limits = shapes::device_limits();
      limits.large_work = 1e6;  // large shapes add nothing on a fake
      auto large_plan = shapes::plan_shapes(task, limits);
      large.emplace(
          KW_TRY(Pool::make(task, oracle, std::move(large_plan).value(), options, entropy)));
      request.gpu = GateDevice{&gpu, fixed, &*large};
    }
    request.repro = {"twice.cu", "twice.py", {}};
    request.entropy = entropy;
    const kernel::Module module = parse_module(text);
    return judge(module, request);
  }
  GateReport verdict(bool with_gpu = false, const std::string& text = kTwice) {
    auto report = judge_text(text, with_gpu);
    if (!report) throw std::runtime_error(report.error().message);
    return std::move(report).value();
  }
};

template <typename T>
const T& as(const GateReport& report) {
  const T* verdict = std::get_if<T>(&report.verdict);
  if (verdict == nullptr) throw std::runtime_error(record::to_json(report.verdict).dump());
  return *verdict;
}

ports::RunOutcome with_status(ports::RunStatus status, const std::string& message) {
  ports::RunOutcome outcome;
  outcome.status = status;
  outcome.message = message;
  return outcome;
}

record::Finding finding(record::FindingKind kind, record::Certainty certainty) {
  record::Finding found;
  found.kind = kind;
  found.certainty = certainty;
  found.message = "something";
  return found;
}

struct AtomicAdd {
  const char* ptx;
  bool forgiven;
};

// Global atomics may flush subnormals in hardware; this is not an error of the kernel.
TEST_F(GateTest, AtomicsInMemoryMayFlush) {
  family = "denormal";
  gpu.kernel = [](double x, int64_t, int64_t) {
    return x != 0 && std::fabs(x) < 0x1p-126 ? 5 : 2 * x + 1;
  };
  for (const AtomicAdd& row :
       {AtomicAdd{"  red.relaxed.gpu.global.add.f32 [%rd1], %f1;\n", true},
        AtomicAdd{"  atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {%f3, %f4};\n", true},
        AtomicAdd{"  atom.add.f32 %f1, [%rd1], %f2;\n", true},
        AtomicAdd{"  atom.shared.add.f32 %f1, [%r1], %f2;\n", false},
        AtomicAdd{"  red.global.add.u32 [%rd1], %r1;\n", false},
        AtomicAdd{"  add.f32 %f1, %f2, %f3;\n", false}}) {
    compiler.ptx = row.ptx;
    const GateReport report = verdict(true);
    EXPECT_EQ(std::holds_alternative<record::Wrong>(report.verdict), !row.forgiven) << row.ptx;
    const bool said = std::ranges::any_of(report.skipped, [](const std::string& line) {
      return line.find("fp32 atomics") != std::string::npos;
    });
    EXPECT_EQ(said, row.forgiven) << row.ptx;
  }
}

}  // namespace

TEST_F(GateTest, AnHonestCandidatePasses) {
  const GateReport report = verdict();
  const auto& passed = as<record::Passed>(report);
  EXPECT_GT(passed.cells, 30);
  EXPECT_EQ(passed.deterministic, true);
  EXPECT_LE(passed.summary.max_z, 1);
  EXPECT_FALSE(report.replay_seeded);
  for (const CellReport& cell : report.cells) {
    EXPECT_TRUE(cell.right);
    EXPECT_EQ(cell.cell.seed, 0U) << "secret seeds are not shown";
  }
}

TEST_F(GateTest, EveryShapeHasItsSets) {
  verdict();
  std::map<size_t, int> sets;
  std::set<std::string> families;
  for (const PoolCell& cell : small->cells()) {
    ++sets[cell.shape];
    families.insert(cell.family);
  }
  EXPECT_EQ(sets.size(), small->shapes().cases.size());
  for (const auto& [shape, count] : sets) EXPECT_GE(count, 4);
  EXPECT_EQ(families.size(), inputs::families_for(task).size() + 1)
      << "and the candidate's constants";
}

TEST_F(GateTest, TheGpuSeesTheBenchmarkShapeItself) {
  const GateReport report = verdict(true);
  as<record::Passed>(report);
  bool spikes = false;
  for (const CellReport& cell : report.cells)
    spikes = spikes || (cell.cell.shape == "B=64 D=64" && cell.cell.family == "spikes" &&
                        cell.stage == record::Stage::Numerics);
  EXPECT_TRUE(spikes);
  bool misaligned = false;
  for (const ports::RunOptions& options : gpu.options)
    misaligned = misaligned || options.misalign_bytes > 0;
  EXPECT_TRUE(misaligned);
}

TEST_F(GateTest, WrongNumbersCarryTheWorstElementAndALine) {
  virtual_gpu.kernel = [](double x, int64_t, int64_t) { return 2 * x; };
  const GateReport report = verdict();
  const auto& wrong = as<record::Wrong>(report);
  EXPECT_EQ(wrong.stage, record::Stage::Numerics);
  ASSERT_TRUE(wrong.summary.worst);
  EXPECT_NE(wrong.repro.find("kernelwright verify twice.cu --reference twice.py --dims '{\"B\":"),
            std::string::npos)
      << wrong.repro;
  EXPECT_NE(wrong.repro.find("--seed 1 --device vgpu"), std::string::npos)
      << "a seed everybody may see: " << wrong.repro;
}

TEST_F(GateTest, OnlyASecretSeedShowsItThenTheCellIsDrawnAnew) {
  // The kernel is wrong for only one input of the pool.
  int run = 0;
  virtual_gpu.kernel = [&](double x, int64_t i, int64_t) {
    if (i == 0) ++run;
    return run == 12 ? 0 : 2 * x + 1;
  };
  const GateReport report = verdict();
  const auto& wrong = as<record::Wrong>(report);
  const std::string shown = std::to_string(wrong.summary.cell->seed);
  EXPECT_NE(wrong.repro.find("--seed " + shown), std::string::npos) << wrong.repro;
  EXPECT_GT(wrong.summary.cell->seed, 1000U);
  for (const PoolCell& cell : small->cells()) EXPECT_NE(cell.seed, wrong.summary.cell->seed);
}

TEST_F(GateTest, AReplayIsNeverCertified) {
  seed = 7;
  family = "normal";
  const GateReport report = verdict();
  EXPECT_TRUE(report.replay_seeded);
  for (const CellReport& cell : report.cells) {
    EXPECT_FALSE(cell.cell.certified);
    EXPECT_EQ(cell.cell.seed, 7U);
    EXPECT_EQ(cell.cell.family, "normal");
  }
}

TEST_F(GateTest, ACertainFindingRejects) {
  virtual_gpu.instead = [](const kernel::Program&, const ports::RunOptions&) {
    ports::RunOutcome outcome = with_status(ports::RunStatus::Stopped, "stopped");
    outcome.findings = {finding(record::FindingKind::SharedRace, record::Certainty::Certain)};
    return std::optional(outcome);
  };
  const GateReport report = verdict(true);
  const auto& rejected = as<record::Rejected>(report);
  EXPECT_EQ(rejected.stage, record::Stage::VirtualGpu);
  EXPECT_EQ(rejected.finding->kind, record::FindingKind::SharedRace);
  EXPECT_EQ(gpu.runs, 0) << "the GPU is spared";
}

TEST_F(GateTest, WarningsAreShownAndRejectNothing) {
  virtual_gpu.findings = {
      finding(record::FindingKind::GlobalRaceBetweenBlocks, record::Certainty::Warning)};
  const GateReport report = verdict();
  as<record::Passed>(report);
  ASSERT_EQ(report.warnings.size(), 1U) << "once, not once per cell";
}

TEST_F(GateTest, OnTheGpuAFindingIsHygiene) {
  gpu.instead = [](const kernel::Program&, const ports::RunOptions&) {
    ports::RunOutcome outcome;
    outcome.findings = {finding(record::FindingKind::WriteToInput, record::Certainty::Certain)};
    return std::optional(outcome);
  };
  EXPECT_EQ(as<record::Rejected>(verdict(true)).stage, record::Stage::Hygiene);
}

struct StatusRow {
  ports::RunStatus status;
  const char* verdict;
};
class GpuStatus : public GateTest, public testing::WithParamInterface<StatusRow> {};

TEST_P(GpuStatus, IsAVerdictAboutTheCandidate) {
  gpu.instead = [](const kernel::Program&, const ports::RunOptions&) {
    return std::optional(with_status(GetParam().status, "it happened"));
  };
  const GateReport report = verdict(true);
  EXPECT_STREQ(record::verdict_name(report.verdict), GetParam().verdict);
  EXPECT_EQ(gpu.health_checks, std::string(GetParam().verdict) == "crashed" ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Gate, GpuStatus,
                         testing::Values(StatusRow{ports::RunStatus::Faulted, "crashed"},
                                         StatusRow{ports::RunStatus::Hung, "crashed"},
                                         StatusRow{ports::RunStatus::WorkerLost, "crashed"},
                                         StatusRow{ports::RunStatus::Refused, "rejected"},
                                         StatusRow{ports::RunStatus::OutOfMemory, "unknown"}),
                         [](const testing::TestParamInfo<StatusRow>& row) {
                           std::string name = ports::run_status_name(row.param.status);
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(GateTest, ALostDeviceIsTheMachinesFault) {
  gpu.healthy = false;
  gpu.instead = [](const kernel::Program&, const ports::RunOptions&) {
    return std::optional(with_status(ports::RunStatus::Faulted, "illegal address"));
  };
  const auto report = judge_text(kTwice, true);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().blame, Blame::Environment);
}

TEST_F(GateTest, AVirtualTimeoutIsMissingEvidence) {
  int runs = 0;
  virtual_gpu.instead = [&](const kernel::Program&, const ports::RunOptions&) {
    ++runs;
    return std::optional(with_status(ports::RunStatus::Hung, "still running after 60 s"));
  };
  EXPECT_NE(as<record::Unknown>(verdict()).missing_evidence.find("still running after 60 s"),
            std::string::npos);
  EXPECT_EQ(runs, 1) << "one wait for the limit is enough";
}

TEST_F(GateTest, AVirtualTimeoutBesideAGpuIsLeftToOtherCheckers) {
  virtual_gpu.instead = [](const kernel::Program&, const ports::RunOptions&) {
    return std::optional(with_status(ports::RunStatus::Hung, "still running after 60 s"));
  };
  EXPECT_NE(as<record::Unknown>(verdict(true)).missing_evidence.find("compute-sanitizer"),
            std::string::npos);
}

TEST_F(GateTest, AnUnknownInstructionIsSaidAndNeverAPass) {
  virtual_gpu.loads = false;
  EXPECT_NE(as<record::Unknown>(verdict()).missing_evidence.find("frobnicate"), std::string::npos);
  EXPECT_NE(as<record::Unknown>(verdict(true)).missing_evidence.find("compute-sanitizer"),
            std::string::npos);
  EXPECT_GT(gpu.runs, 30) << "the GPU judges all the same";
}

TEST_F(GateTest, DoesNotCompile) {
  compiler.fail = true;
  const GateReport report = verdict();
  EXPECT_EQ(as<record::Rejected>(report).stage, record::Stage::Compile);
  EXPECT_EQ(as<record::Rejected>(report).reason, "line 3: expected a ';'");
  EXPECT_TRUE(report.compile_failed);
}

TEST_F(GateTest, NonDeterminismIsAnAttributeUnlessTheTaskDemandsIt) {
  int run = 0;
  gpu.kernel = [&](double x, int64_t i, int64_t) {
    if (i == 0) ++run;
    return (2 * x + 1) * (run % 2 == 0 ? 1 : 1 + 0x1p-23);
  };
  EXPECT_EQ(as<record::Passed>(verdict(true)).deterministic, false);
  task.precision.deterministic = true;
  EXPECT_EQ(as<record::Rejected>(verdict(true)).stage, record::Stage::Hygiene);
}

TEST_F(GateTest, RepeatedRunsLeaveTheirOutputsThere) {
  as<record::Passed>(verdict(true));
  int there = 0;
  for (const ports::RunOptions& options : gpu.options) {
    EXPECT_GT(options.hash_seed, 1000u) << "the seed is drawn";
    there += options.copy_outputs ? 0 : 1;
    EXPECT_FALSE(options.misalign_bytes > 0 && options.copy_outputs);
  }
  EXPECT_GE(there, 2);
}

TEST_F(GateTest, WrongOnlyWithMinimumAlignment) {
  bool misaligned = false;
  gpu.instead = [&](const kernel::Program&, const ports::RunOptions& options) {
    misaligned = options.misalign_bytes > 0;
    return std::optional<ports::RunOutcome>();
  };
  gpu.kernel = [&](double x, int64_t, int64_t) { return misaligned ? 2 * x : 2 * x + 1; };
  EXPECT_NE(as<record::Wrong>(verdict(true)).reason.find("at its minimum alignment"),
            std::string::npos);
}

TEST_F(GateTest, TheVirtualGpuTriesMinimumAlignmentToo) {
  bool misaligned = false;
  virtual_gpu.instead = [&](const kernel::Program&, const ports::RunOptions& options) {
    misaligned = options.misalign_bytes > 0;
    return std::optional<ports::RunOutcome>();
  };
  virtual_gpu.kernel = [&](double x, int64_t, int64_t) { return misaligned ? 2 * x : 2 * x + 1; };
  EXPECT_NE(as<record::Wrong>(verdict()).reason.find("at its minimum alignment"),
            std::string::npos);
}

TEST_F(GateTest, OtherBitsInARepeatedRunAreJudged) {
  bool repeated = false;
  gpu.instead = [&](const kernel::Program&, const ports::RunOptions& options) {
    repeated = repeated || (!options.copy_outputs && options.misalign_bytes == 0);
    return std::optional<ports::RunOutcome>();
  };
  gpu.kernel = [&](double x, int64_t, int64_t) { return repeated ? 2 * x : 2 * x + 1; };
  as<record::Wrong>(verdict(true));
}

TEST_F(GateTest, ACrashInARepeatedRunCounts) {
  gpu.instead = [&](const kernel::Program&, const ports::RunOptions& options) {
    return options.copy_outputs ? std::optional<ports::RunOutcome>()
                                : with_status(ports::RunStatus::Faulted, "illegal address");
  };
  as<record::Crashed>(verdict(true));
  EXPECT_GT(gpu.health_checks, 0);
}

TEST_F(GateTest, OneCompileServesAllShapes) {
  verdict(true);
  EXPECT_EQ(compiler.compiles, 2) << "one for each device";
}

TEST_F(GateTest, TruthsAreMadeOnce) {
  verdict();
  const int made = oracle.truths;
  EXPECT_LE(made, static_cast<int>(small->cells().size()) + 8);
}

TEST_F(GateTest, ATaskThatZerosSatisfyIsNoEvidence) {
  oracle.vague = true;
  virtual_gpu.kernel = [](double, int64_t, int64_t) { return 0; };
  EXPECT_NE(as<record::Unknown>(verdict()).missing_evidence.find("writes zeros"),
            std::string::npos);
}

TEST_F(GateTest, AShapeThatCannotBeCutIsNotRunForever) {
  task.dims.clear();
  task.correctness_shapes = {{{"B", 1 << 20}, {"D", 1 << 12}}};
  task.benchmark_shapes = task.correctness_shapes;
  const GateReport report = verdict();
  EXPECT_NE(as<record::Unknown>(report).missing_evidence.find("no shape could be judged"),
            std::string::npos);
  ASSERT_FALSE(report.skipped.empty());
  EXPECT_NE(report.skipped[0].find("would cost too much"), std::string::npos);
}

struct StaticRow {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};
class Static : public GateTest, public testing::WithParamInterface<StaticRow> {};

TEST_P(Static, IsRejectedWithTheReason) {
  std::string text = kTwice;
  const size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const GateReport report = verdict(false, text);
  EXPECT_EQ(as<record::Rejected>(report).stage, record::Stage::Static);
  EXPECT_NE(as<record::Rejected>(report).reason.find(GetParam().says), std::string::npos)
      << as<record::Rejected>(report).reason;
  EXPECT_EQ(virtual_gpu.runs, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Gate, Static,
    testing::Values(
        StaticRow{"DType", "input x: fp32", "input x: fp16", "'x' is fp16, the task's 'x' is fp32"},
        StaticRow{"Rank", "x: fp32[B, D]", "x: fp32[B]", "has 1 dimensions"},
        StaticRow{"FixedExtent", "x: fp32[B, D]", "x: fp32[B, 64]", "here it is 32"},
        StaticRow{"Domain", "//! launch", "//! when D > 100\n//! launch",
                  "'D > 100' does not hold"},
        StaticRow{"MoreInputs", "//! output", "//! input z: fp32[B]\n//! output", "no tensor left"},
        StaticRow{"MoreOutputs", "//! launch twice grid(B) block(64) args(x, y, D)",
                  "//! output z: fp32[B]\n//! launch twice grid(B) block(64) args(x, y, z, D)",
                  "the module writes y, z, the task returns 'y'"},
        StaticRow{"WritesAnInput", "input x", "inout x", "which the task only reads"},
        StaticRow{"ScalarWithoutValue", "//! output", "//! scalar s: fp32\n//! output",
                  "scalar 's'"}),
    [](const testing::TestParamInfo<StaticRow>& row) { return row.param.name; });

TEST_F(GateTest, ShapesOutsideTheModulesDomainAreListed) {
  std::string text = kTwice;
  text.replace(text.find("//! launch"), 0, "//! when D % 32 == 0\n");
  const GateReport report = verdict(false, text);
  as<record::Passed>(report);
  bool seven = false;
  for (const std::string& line : report.skipped)
    seven = seven || line.find("D=7: shape outside the module's domain") != std::string::npos;
  EXPECT_TRUE(seven);
}

}  // namespace kw::gate
