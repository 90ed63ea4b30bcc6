// Tests the judge for a search without compiler and GPU. The task is y = 2 x + 1, and a candidate's
// time depends only on its block size.
#include "judge/judge.h"
#include "kernel/methods.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include "core/random.h"
#include "gate/fakes.h"
#include "halving/search.h"
#include "os/files.h"
#include "ports/audit_hash.h"
#include "store/run.h"
#include "store/test_folder.h"
#include "variants/builtin.h"
#include "workflows/explaining_judge.h"

namespace kw::workflows {
namespace {

using ports::RunStatus;

constexpr const char* kJudgedModule =
    "//! kernelwright 1\n"
    "//! task twice\n"
    "//! input x: fp32[B, D]\n"
    "//! output y: fp32[B, D]\n"
    "//! tune THREADS in 32, 64, 128, 256, 512 where THREADS < 1024\n"
    "//! launch twice grid(B) block(THREADS) args(x, y, D)\n"
    "__global__ void twice(const float* x, float* y, int d) {}\n";

/// 100 us with the best block size, more with others.
class ClockedGpu : public gate::FakeDevice {
 public:
  ClockedGpu() : FakeDevice(false) {
    instead = [this](const kernel::Program& program, const ports::RunOptions&) {
      plus = wrong.count(program.launches[0].block.x) > 0 ? 2 : 1;
      return std::optional<ports::RunOutcome>();
    };
  }
  std::set<uint32_t> wrong;  // block sizes that compute a wrong result
  std::set<uint32_t> wrong_when_timed;
  std::set<uint32_t> crash_when_timed;
  uint32_t best = 256;
  /// Replaces the time by distance from the best block size; takes rows and block size.
  std::function<double(uint32_t rows, uint32_t threads)> clock;
  double host_us = 0;
  int timings = 0;
  int copied_out = 0;  // outputs of the timed shape
  size_t most_together = 0;

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
    ports::RunOptions whole_run = asked;
    whole_run.copy_outputs = true;
    ports::RunOutcome outcome = KW_TRY(FakeDevice::run(image, program, inputs, whole_run));
    outcome.hashes.clear();
    for (size_t i = 0; i < outcome.buffers.size(); ++i) {
      const bool input = program.buffers[i].role == kernel::Role::Input;
      outcome.hashes.push_back(input ? 0
                                     : ports::audit_hash(outcome.buffers[i].data, asked.hash_seed));
    }
    const bool whole = inputs[0].shape == std::vector<int64_t>{64, 64};
    if (whole && asked.copy_outputs) ++copied_out;
    if (!asked.copy_outputs) outcome.buffers.clear();
    return outcome;
  }
  Result<ports::TimeOutcome> time(const std::vector<ports::TimedProgram>& programs,
                                  const ports::TimeProtocol& protocol) override {
    ++timings;
    most_together = std::max(most_together, programs.size());
    ports::TimeOutcome outcome;
    for (const ports::TimedProgram& program : programs) {
      if (crash_when_timed.count(program.program->launches[0].block.x) > 0) {
        outcome.status = RunStatus::Faulted;
        outcome.message = "illegal address";
      }
      outcome.results.push_back(timed(program, protocol));
    }
    return outcome;
  }

 private:
  ports::TimedResult timed(const ports::TimedProgram& program,
                           const ports::TimeProtocol& protocol) {
    const uint32_t threads = program.program->launches[0].block.x;
    const uint32_t rows = program.program->launches[0].grid.x;
    const double us =
        clock ? clock(rows, threads) : 100 + 0.02 * std::abs(static_cast<double>(threads) - best);
    ports::TimedResult result;
    result.samples.method = "events";
    result.samples.host_us = host_us > 0 ? host_us / us : 0;
    std::vector<std::vector<uint64_t>> hashes;  // by pool entry, always the same
    for (int i = 0; i < protocol.max_samples; ++i) {
      result.samples.microseconds.push_back(us * (1 + 1e-5 * random_.real()));
      const auto entry = static_cast<size_t>(i) % program.pool.size();
      if (entry == hashes.size()) hashes.push_back(hashes_of(program, entry, protocol.hash_seed));
      result.audits.push_back({i, static_cast<int>(entry), hashes[entry]});
    }
    return result;
  }
  std::vector<uint64_t> hashes_of(const ports::TimedProgram& program, size_t entry, uint64_t seed) {
    auto outcome = FakeDevice::run(1, *program.program, program.pool[entry], {});
    const uint32_t threads = program.program->launches[0].block.x;
    const uint64_t salt = wrong_when_timed.count(threads) > 0 ? 1 : 0;
    std::vector<uint64_t> hashes;
    for (size_t b = 0; b < outcome->buffers.size(); ++b) {
      if (program.program->buffers[b].role == kernel::Role::Output)
        hashes.push_back(ports::audit_hash(outcome->buffers[b].data, seed) + salt);
    }
    return hashes;
  }
  Random random_{3};
};

class JudgeTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KERNELWRIGHT_CACHE", folder_.path().c_str(), 1);
    calibration.uuid = "GPU-fake";
    calibration.driver = "1";
    calibration.gpu = "fake";
    calibration.read = calibration.write = calibration.copy = calibration.add = 1000;
    calibration.launch_us = 1;
    tools.verify = {&compiler, &virtual_gpu, &gpu, &oracle};
    tools.renew = [] {};
    tools.calibrate = [this] { return Result<record::Calibration>(calibration); };
    auto made = store::Run::create({folder_.path(), ""}, {"twice", "", "", {}, {}, {}});
    ASSERT_TRUE(made) << made.error().message;
    run.emplace(std::move(made).value());
  }
  void TearDown() override { ::unsetenv("KERNELWRIGHT_CACHE"); }

  /// `more`: further lanes beside the first.
  void open(std::vector<std::unique_ptr<timing::Lane>> more = {}) {
    auto opened = timing::Lanes::open(tools);
    ASSERT_TRUE(opened) << opened.error().message;
    lanes = std::move(opened).value();
    for (auto& lane : more) lanes->all().push_back(std::move(lane));
    judge::JudgeRequest request;
    request.task = &task;
    request.verify.reference_path = "twice.py";
    request.calibration = &calibration;
    request.all_shapes = all_shapes;
    request.host_time = host_time;
    auto made = judge::LocalJudge::make(request, *lanes, *run, {});
    ASSERT_TRUE(made) << made.error().message;
    judge = std::move(made).value();
  }
  halving::SearchResult find() {
    variants::Builtin proposer({{"twice", [] { return Result<std::string>(kJudgedModule); }}}, 1);
    halving::Options options;
    options.seconds = [] { return 0.0; };
    auto outcome = halving::run(proposer, *judge, archive, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(outcome).value() : halving::SearchResult{};
  }
  int64_t threads_of(const std::string& id) { return archive.at(id).candidate.tunes.at("THREADS"); }

  bool all_shapes = false, host_time = false;
  store::TestFolder folder_;
  task::Task task = gate::fake_task();
  gate::FakeOracle oracle;
  gate::FakeCompiler compiler;
  gate::FakeDevice virtual_gpu{true};
  ClockedGpu gpu;
  timing::BenchTools tools;
  record::Calibration calibration;
  std::optional<store::Run> run;
  std::unique_ptr<timing::Lanes> lanes;
  std::unique_ptr<judge::LocalJudge> judge;
  halving::Archive archive;
};

TEST_F(JudgeTest, TheFastestMeasuredIsCertifiedAndEverythingIsStored) {
  open();
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  EXPECT_EQ(threads_of(*outcome.winner), 256);
  EXPECT_GE(gpu.most_together, 4u) << "survivors are timed in one call";
  ASSERT_TRUE(judge->certificate());
  EXPECT_NE(judge->certificate()->text.find("THREADS in 256, 32, 64, 128, 512 where"),
            std::string::npos);
  EXPECT_NEAR(archive.at(*outcome.winner).measured_us(), 100, 0.1);
  EXPECT_EQ(run->candidates().size(), 5u);
  for (const record::Candidate& candidate : run->candidates()) {
    EXPECT_EQ(run->judgement(candidate.id)["verdict"].as_string(), "passed");
    EXPECT_GT(run->timing(candidate.id)["us"].as_double(), 99);
    EXPECT_GT(run->profile(candidate.id)["estimate"]["us"].as_double(), 0);
  }
  EXPECT_FALSE(run->timing(*outcome.winner)["certified"].is_null());
}

// A candidate that is fast at one of two shapes is not the best at both.
TEST_F(JudgeTest, AllShapesCountWhereAllAreAskedFor) {
  task.benchmark_shapes = {{{"B", 64}, {"D", 64}}, {{"B", 128}, {"D", 64}}};
  gpu.clock = [](uint32_t rows, uint32_t threads) {
    if (threads > 128) return 1000.0;
    if (rows == 64) return threads == 32 ? 10.0 : threads == 64 ? 20.0 : 30.0;
    return threads == 32 ? 1000.0 : threads == 64 ? 100.0 : 90.0;
  };
  open();
  EXPECT_EQ(threads_of(*find().winner), 32) << "the first shape alone";
  EXPECT_EQ(judge->ranked_by(), "time on the GPU");
  judge.reset();
  archive = {};
  all_shapes = true;
  open();
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  EXPECT_EQ(threads_of(*outcome.winner), 64);
  EXPECT_NEAR(archive.at(*outcome.winner).measured_us(), std::sqrt(20 * 100), 0.1);
  EXPECT_NEAR(run->timing(*outcome.winner)["rank_us"].as_double(), std::sqrt(20 * 100), 0.1);
  EXPECT_NEAR(judge->certificate()->bench.candidate.measurement->summary.median, 20, 0.1);
  const std::vector<judge::ShapeTime> shapes = judge->shape_times(*outcome.winner);
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(shapes[1].dims, "B=128 D=64");
  EXPECT_NEAR(shapes[1].us, 100, 0.1);
  EXPECT_TRUE(shapes[1].measured);
  EXPECT_NEAR(judge->rank_floor_us(), std::sqrt(shapes[0].floor_us * shapes[1].floor_us), 1e-6);
  EXPECT_NE(judge->ranked_by().find("geometric mean"), std::string::npos);
}

// Host times may order candidates differently.
TEST_F(JudgeTest, WhatTheHostSeesCountsForLatency) {
  gpu.host_us = 1e6;
  host_time = true;
  calibration.host_us = 7;
  open();
  EXPECT_EQ(threads_of(*find().winner), 512) << "the slowest on the GPU";
  EXPECT_GE(judge->rank_floor_us(), 7);
}

TEST_F(JudgeTest, AllShapesCountInEstimates) {
  task.benchmark_shapes = {{{"B", 64}, {"D", 64}}, {{"B", 4096}, {"D", 4096}}};
  tools.verify.gpu = nullptr;
  all_shapes = true;
  open();
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  const std::vector<judge::ShapeTime> shapes = judge->shape_times(*outcome.winner);
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_FALSE(shapes[0].measured || shapes[1].measured);
  EXPECT_GT(shapes[0].us, 0);
  EXPECT_GT(shapes[1].floor_us, shapes[0].floor_us);
  EXPECT_NEAR(archive.at(*outcome.winner).estimate_us, std::sqrt(shapes[0].us * shapes[1].us),
              1e-6);
}

TEST_F(JudgeTest, BitsJudgedRightNeedNotLeaveTheDeviceAgain) {
  open();
  record::Candidate first =
      record::make_candidate(kJudgedModule, {{"THREADS", 32}}, "test", "first");
  record::Candidate second =
      record::make_candidate(kJudgedModule, {{"THREADS", 64}}, "test", "second");
  ASSERT_TRUE(judge->examine({first, second}, ports::Depth::Screen));
  ASSERT_TRUE(judge->examine({first}, ports::Depth::Time));
  const int before = gpu.copied_out;
  timing::TimedCandidate& known = *lanes->first().shapes[0].ready.at(first.id);
  ASSERT_TRUE(judge->examine({second}, ports::Depth::Time));
  EXPECT_EQ(before, 10) << "one per set, in the gate; none to be timed";
  EXPECT_EQ(lanes->first().shapes[0].ready.at(second.id)->audit.expected, known.audit.expected);
  gpu.wrong = {128};
  record::Candidate third =
      record::make_candidate(kJudgedModule, {{"THREADS", 128}}, "test", "third");
  ASSERT_TRUE(judge->examine({third}, ports::Depth::Screen));
  const auto looks = judge->examine({third}, ports::Depth::Time);
  ASSERT_TRUE(looks);
  EXPECT_NE(looks->front().refused.find("wrong"), std::string::npos) << looks->front().refused;
}

TEST_F(JudgeTest, NothingWrongIsTimedOrShipped) {
  gpu.wrong = {256};
  gpu.wrong_when_timed = {128};
  gpu.crash_when_timed = {512};
  open();
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  EXPECT_EQ(threads_of(*outcome.winner), 64);
  for (const halving::Entry& entry : archive.entries()) {
    const int64_t threads = entry.candidate.tunes.at("THREADS");
    const std::string verdict = run->judgement(entry.candidate.id)["verdict"].as_string();
    EXPECT_EQ(verdict, threads == 256   ? "wrong"
                       : threads == 128 ? "rejected"
                       : threads == 512 ? "crashed"
                                        : "passed")
        << threads;
    EXPECT_EQ(entry.alive(), verdict == "passed");
  }
}

ports::Candidates with_threads(const std::vector<int64_t>& values) {
  ports::Candidates out;
  for (const int64_t threads : values)
    out.push_back(record::make_candidate(kJudgedModule, {{"THREADS", threads}}, "test", "racer"));
  return out;
}

TEST_F(JudgeTest, ARaceComparesTheFirstWithEach) {
  gpu.clock = [](uint32_t, uint32_t threads) {
    return threads == 32 ? 100.0 : threads == 64 ? 50 : 200;
  };
  int renewed = 0;
  tools.renew = [&] { ++renewed; };
  open();
  const auto racers = judge->race(with_threads({32, 64, 128, 32}), {.compare = true});
  ASSERT_TRUE(racers) << racers.error().message;
  ASSERT_EQ(racers->size(), 4u);
  EXPECT_EQ(renewed, 3);
  EXPECT_EQ(gpu.most_together, 4u);
  for (const ports::Outcome& racer : *racers) {
    EXPECT_EQ(racer.verdict, "passed");
    EXPECT_TRUE(racer.measured);
    EXPECT_FALSE(racer.samples_us.empty());
  }
  EXPECT_FALSE((*racers)[0].ratio);
  EXPECT_NEAR((*racers)[1].ratio->value, 2, 0.04);
  EXPECT_EQ((*racers)[1].ratio->relation, "FASTER");
  EXPECT_NEAR((*racers)[2].ratio->value, 0.5, 0.01);
  EXPECT_EQ((*racers)[3].ratio->relation, "SAME") << "a copy of the first";
  EXPECT_TRUE((*racers)[0].documents["gate"].is_object());
  EXPECT_FALSE((*racers)[3].documents["gate"].is_object()) << "it had passed already";
}

TEST_F(JudgeTest, ARaceGoesOnWithoutThoseThatFail) {
  gpu.wrong = {256};
  gpu.wrong_when_timed = {128};
  gpu.crash_when_timed = {512};
  open();
  const auto racers = judge->race(with_threads({32, 256, 128, 512, 64}), {.compare = true});
  ASSERT_TRUE(racers) << racers.error().message;
  const char* want[] = {"passed", "wrong", "rejected", "crashed", "passed"};
  for (size_t i = 0; i < racers->size(); ++i) {
    const ports::Outcome& racer = (*racers)[i];
    EXPECT_EQ(racer.verdict, want[i]) << i;
    EXPECT_EQ(racer.measured, i == 0 || i == 4) << i;
    EXPECT_EQ(racer.ratio.has_value(), i == 4) << i;
    EXPECT_EQ(run->judgement(with_threads({32, 256, 128, 512, 64})[i].id)["verdict"].as_string(),
              want[i]);
  }
}

TEST_F(JudgeTest, ARaceWithoutItsFirstComparesNothing) {
  gpu.wrong = {256};
  open();
  const auto racers = judge->race(with_threads({256, 32, 64}), {.compare = true, .quick = true});
  ASSERT_TRUE(racers) << racers.error().message;
  for (const ports::Outcome& racer : *racers) EXPECT_FALSE(racer.ratio);
  EXPECT_TRUE((*racers)[2].measured);
}

TEST_F(JudgeTest, SeveralGpusShareTheWork) {
  ClockedGpu second;
  gate::FakeDevice second_virtual{true};
  gate::FakeOracle second_oracle;
  std::vector<std::unique_ptr<timing::Lane>> more;
  more.push_back(std::make_unique<timing::Lane>());
  more[0]->tools.verify = {&compiler, &second_virtual, &second, &second_oracle};
  open(std::move(more));
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  EXPECT_EQ(threads_of(*outcome.winner), 256);
  EXPECT_GT(gpu.timings, 0);
  EXPECT_GT(second.timings, 0);
  EXPECT_EQ(second.most_together, 1u) << "pairs meet on the first";
  EXPECT_GE(gpu.most_together, 4u);
}

TEST_F(JudgeTest, WithoutAGpuTheEstimateDecidesAndTheGateStillJudges) {
  tools.verify.gpu = nullptr;
  open();
  const halving::SearchResult outcome = find();
  ASSERT_TRUE(outcome.winner);
  EXPECT_EQ(gpu.timings, 0);
  EXPECT_EQ(run->judgement(*outcome.winner)["verdict"].as_string(), "passed");
  EXPECT_TRUE(run->timing(*outcome.winner).is_null());
  EXPECT_EQ(outcome.kept.size(), 4u);
  EXPECT_NE(run->compile_log(*outcome.winner).find("void twice(float const*, float*, int)"),
            std::string::npos)
      << run->compile_log(*outcome.winner);
}

TEST_F(JudgeTest, WhatDoesNotCompileIsRefusedWithItsLog) {
  compiler.fail = true;
  open();
  const halving::SearchResult outcome = find();
  EXPECT_FALSE(outcome.winner);
  ASSERT_EQ(archive.refused(), 5u);
  const halving::Entry& entry = archive.entries().front();
  EXPECT_NE(entry.outcome.refused.find("expected a ';'"), std::string::npos)
      << entry.outcome.refused;
  EXPECT_FALSE(run->compile_log(entry.candidate.id).empty());
}

struct TuneCase {
  const char* name;
  const char* line;
  int64_t value;
  const char* want;
};
class WithTunes : public testing::TestWithParam<TuneCase> {};

TEST_P(WithTunes, MovesTheValueToTheFront) {
  const TuneCase& one = GetParam();
  EXPECT_EQ(kernel::with_tunes(std::string(one.line) + "\n", {{"VEC", one.value}}),
            std::string(one.want) + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, WithTunes,
    testing::Values(TuneCase{"plain", "//! tune VEC in 1, 2, 4", 4, "//! tune VEC in 4, 1, 2"},
                    TuneCase{"first_already", "//!  tune   VEC in 8, 2", 8,
                             "//!  tune   VEC in 8, 2"},
                    TuneCase{"condition", "//! tune VEC in 1, 2 where VEC * N <= 8", 2,
                             "//! tune VEC in 2, 1 where VEC * N <= 8"},
                    TuneCase{"other_name", "//! tune VECTOR in 1, 2", 2, "//! tune VECTOR in 1, 2"},
                    TuneCase{"no_plan_line", "// tune VEC in 1, 2", 2, "// tune VEC in 1, 2"}),
    [](const auto& one) { return one.param.name; });

/// A fake toolkit of shell scripts in $CUDA_HOME.
class HintsTest : public JudgeTest {
 protected:
  void SetUp() override {
    JudgeTest::SetUp();
    ::setenv("CUDA_HOME", folder_.path().c_str(), 1);
    script("nvdisasm",
           "printf '.section\\t.text.twice,\"ax\"\\n.text.twice:\\n'\n"
           "echo '        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;'\n"
           "echo '        /*0010*/                   EXIT ;'\n");
  }
  void TearDown() override {
    ::unsetenv("CUDA_HOME");
    JudgeTest::TearDown();
  }
  void script(const std::string& name, const std::string& body) {
    const std::string path = folder_.path() + "/bin/" + name;
    ASSERT_TRUE(os::make_directories(folder_.path() + "/bin"));
    ASSERT_TRUE(os::write_file(path, "#!/bin/sh\n" + body));
    ::chmod(path.c_str(), 0755);
  }
  std::string hints() {
    open();
    ExplainingJudge explaining(*judge, archive, calibration, {});
    const auto first = record::make_candidate(kJudgedModule, {{"THREADS", 64}}, "llm", "first");
    const auto second = record::make_candidate(kJudgedModule, {{"THREADS", 256}}, "llm", "second");
    EXPECT_TRUE(explaining.examine_one(second, ports::Depth::Time));
    const auto look = explaining.examine_one(first, ports::Depth::Time);
    EXPECT_TRUE(look && look->passed());
    return look ? look->detail : "";
  }
};

TEST_F(HintsTest, TellMachineCodeAndCounters) {
  script("ncu",
         "echo '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\","
         "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\","
         "\"smsp__warp_issue_stalled_barrier_per_warp_active.pct\"'\n"
         "echo '\"\",\"\",\"ns\",\"%\",\"%\"'\n"
         "echo '\"0\",\"twice(int)\",\"5000\",\"20\",\"44\"'\n");
  const std::string text = hints();
  EXPECT_NE(text.find("machine code (disassembled): 2 instructions; global loads 1 x 16 bytes"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("every count is that of the best module so far"), std::string::npos) << text;
  EXPECT_NE(text.find("time of the kernel on the device 5 us"), std::string::npos) << text;
  EXPECT_NE(text.find("warps wait most for: barrier 44 %"), std::string::npos) << text;
}

TEST_F(HintsTest, ABrokenProfilerOnlyAddsANote) {
  script("ncu", "kill -SEGV $$\n");
  script("nvdisasm", "exit 3\n");
  const std::string text = hints();
  EXPECT_NE(text.find("this module: 1"), std::string::npos) << text;
  EXPECT_NE(text.find("hardware counters cannot be read here"), std::string::npos) << text;
  EXPECT_EQ(text.find(folder_.path()), std::string::npos) << "no path of this machine";
}

}  // namespace
}  // namespace kw::workflows
