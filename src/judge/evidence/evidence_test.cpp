// Tests evidence with a fake compiler, GPU, profiler and disassembler. The programs are shell
// scripts.
#include "evidence/evidence.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/text.h"
#include "evidence/profile.h"
#include "evidence/run_ncu.h"
#include "gate/fakes.h"
#include "os/files.h"
#include "profile/ncu.h"
#include "store/test_folder.h"

namespace kw::evidence {
namespace {

constexpr const char* kPage =
    "cat <<'P'\n"
    "==PROF== Connected to process 7\n"
    "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\","
    "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\","
    "\"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed\",\"dram__bytes_read.sum\","
    "\"dram__bytes_write.sum\"\n"
    "\"\",\"\",\"ns\",\"%\",\"%\",\"byte\",\"byte\"\n"
    "\"0\",\"twice(const float *, float *, int)\",\"50,000\",\"20\",\"70\",\"16,384\",\"16,384\"\n"
    "P\n";

constexpr const char* kQuery =
    "if [ \"$1\" = --query-metrics ]; then cat <<'P'\n"
    "Device fake\n"
    "gpu__time_duration   Counter  ns  time\n"
    "gpu__time_active     Counter  ns  time\n"
    "sm__throughput       Throughput  %  busiest\n"
    "dram__bytes_read     Counter  byte  read\n"
    "P\n"
    "exit 0; fi\n";

class EvidenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("KERNELWRIGHT_CACHE", folder_.path().c_str(), 1);
    tools_.verify = {&compiler_, &virtual_gpu_, &gpu_, &oracle_};
    tools_.calibrate = []() -> Result<record::Calibration> {
      record::Calibration c;
      c.gpu = "fake GPU";
      c.read = c.write = c.copy = c.add = 1;  // GB/s
      c.peaks = {{"fp32", "fma", 1}};
      c.launch_us = 1;
      return c;
    };
    virtual_gpu_.instead = [](const kernel::Program&,
                              const ports::RunOptions&) -> std::optional<ports::RunOutcome> {
      ports::RunOutcome outcome;
      record::LaunchCounters launch{"twice", 64, 64, {}, {}};
      launch.total.warp_total = 1000;
      launch.total.lane_total = 32000;
      launch.total.global_load_sectors = launch.total.global_store_sectors = 512;
      launch.total.global_load_requests = launch.total.global_store_requests = 128;
      launch.total.global_load_bytes = launch.total.global_store_bytes = 16384;
      outcome.counters = {launch};
      return outcome;
    };
    request_.module_text = gate::kTwice;
    request_.task = &task_;
    request_.us = 60;
    request_.ncu = "";
    request_.disassembler = compile::Disassembler{};
    request_.profiler_seconds = 5;
  }
  void TearDown() override { ::unsetenv("KERNELWRIGHT_CACHE"); }

  std::string program(const std::string& name, const std::string& body) {
    const std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(os::write_file(path, "#!/bin/sh\necho \"$@\" >> " + path + ".calls\n" + body));
    ::chmod(path.c_str(), 0755);
    return path;
  }
  std::vector<std::string> calls(const std::string& name) const {
    const auto read = os::read_file(folder_.path() + "/" + name + ".calls");
    const std::string text = read ? *read : "";
    std::vector<std::string> lines;
    for (const std::string_view line : split_lines(text)) {
      if (!line.empty()) lines.emplace_back(line);
    }
    return lines;
  }
  Evidence gather() {
    auto evidence = gather_evidence(request_, tools_);
    EXPECT_TRUE(evidence) << evidence.error().message;
    return evidence ? std::move(evidence).value() : Evidence();
  }
  static double known(const profile::MetricSet& metrics, const char* id) {
    const auto value = metrics.get(id);
    EXPECT_TRUE(value) << id;
    return value.value_or(-1);
  }

  store::TestFolder folder_;
  task::Task task_ = gate::fake_task();
  gate::FakeOracle oracle_;
  gate::FakeCompiler compiler_;
  gate::FakeDevice virtual_gpu_{true}, gpu_{false};
  EvidenceRequest request_;
  timing::BenchTools tools_;
};

TEST_F(EvidenceTest, CountsAndPlanWithoutAnyTool) {
  const Evidence evidence = gather();
  const profile::Examined& examined = evidence.examined;
  EXPECT_EQ(examined.metrics.kernel, "twice");
  EXPECT_EQ(known(examined.metrics, "global_load_sectors"), 512);
  EXPECT_EQ(known(examined.metrics, "grid_blocks"), 64);
  EXPECT_EQ(known(examined.metrics, "launches"), 1);
  EXPECT_EQ(known(examined.metrics, "traffic_ratio"), 1);
  EXPECT_EQ(examined.metrics.is("is_elementwise"), true);
  EXPECT_EQ(examined.metrics.is("allows_lower_precision"), false);
  EXPECT_FALSE(examined.counters);
  EXPECT_NE(examined.no_counters.find("Nsight Compute (ncu) was not found"), std::string::npos);
  EXPECT_NE(examined.no_sass.find("pip install nvidia-cuda-nvdisasm"), std::string::npos);
  // 32 KiB at 1 GB/s, of 60 us.
  EXPECT_NEAR(examined.roofline.memory_busy.value_or(0), 32.768 / 60, 1e-6);
  EXPECT_FALSE(examined.roofline.estimated);
  EXPECT_EQ(evidence.rates_of, "fake GPU");
}

TEST_F(EvidenceTest, WithoutAGpuItIsAnEstimate) {
  tools_.verify.gpu = nullptr;
  const Evidence evidence = gather();
  EXPECT_TRUE(evidence.examined.roofline.estimated);
  EXPECT_FALSE(evidence.examined.roofline.time_us) << "no clock: what was given is no measurement";
  EXPECT_EQ(evidence.examined.no_counters, "no GPU was used");
  EXPECT_NE(evidence.rates_of, "fake GPU");
}

TEST_F(EvidenceTest, ScalesWhatWasCountedAtASmallerShape) {
  task_.benchmark_shapes = {{{"B", 65536}, {"D", 64}}};
  const Evidence evidence = gather();
  EXPECT_NE(evidence.counted_at, "");
  ASSERT_GT(evidence.scale, 1);
  const profile::MetricSet& metrics = evidence.examined.metrics;
  EXPECT_NEAR(known(metrics, "global_load_sectors"), 512 * evidence.scale, 1);
  EXPECT_EQ(known(metrics, "grid_blocks"), 65536) << "of the shape that counts";
  EXPECT_EQ(known(metrics, "load_efficiency_pct"), 100);
}

TEST_F(EvidenceTest, GoesOnWhereTheVirtualGpuCannot) {
  virtual_gpu_.loads = false;
  Evidence evidence = gather();
  EXPECT_FALSE(evidence.examined.metrics.knows("global_load_sectors"));
  ASSERT_FALSE(evidence.examined.metrics.notes.empty());
  EXPECT_NE(evidence.examined.metrics.notes.back().find("frobnicate"), std::string::npos);
  virtual_gpu_.loads = true;
  virtual_gpu_.instead = [](const kernel::Program&, const ports::RunOptions&) {
    ports::RunOutcome outcome;
    outcome.status = ports::RunStatus::Stopped;
    outcome.message = "it counted for too long";
    return std::optional(outcome);
  };
  evidence = gather();
  EXPECT_NE(join(evidence.examined.metrics.notes, "\n").find("counted for too long"),
            std::string::npos);
}

TEST_F(EvidenceTest, ModulesThatCannotBeUsedAreTheUsersBusiness) {
  compiler_.fail = true;
  auto evidence = gather_evidence(request_, tools_);
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().blame, Blame::Input);
  EXPECT_NE(evidence.error().message.find("does not compile: line 3"), std::string::npos);
  compiler_.fail = false;
  request_.module_text = "this is not a module";
  EXPECT_EQ(gather_evidence(request_, tools_).error().blame, Blame::Input);
  request_.module_text = gate::kTwice;
  request_.tunes = {{"NOPE", 3}};
  EXPECT_EQ(gather_evidence(request_, tools_).error().blame, Blame::Input);
}

TEST_F(EvidenceTest, HardwareCountersOutweighAllElse) {
  request_.ncu = program("ncu", std::string(kQuery) + kPage);
  const Evidence evidence = gather();
  const profile::Examined& examined = evidence.examined;
  EXPECT_TRUE(examined.counters) << examined.no_counters;
  EXPECT_EQ(examined.no_counters, "");
  EXPECT_EQ(known(examined.metrics, "duration_us"), 50);
  EXPECT_EQ(known(examined.metrics, "traffic_ratio"), 1);
  EXPECT_EQ(examined.metrics.find("traffic_ratio")->source, profile::MetricSource::Ncu);
  EXPECT_TRUE(evidence.launches[0].measured);
  EXPECT_EQ(evidence.launches[0].us, 50);
  EXPECT_NEAR(examined.roofline.memory_busy.value_or(0), 0.7, 1e-6);
  EXPECT_EQ(examined.roofline.time_us, 60) << "the clock's word";
}

TEST_F(EvidenceTest, AsksForOneMarkedCallAndForWhatTheGpuHas) {
  request_.ncu = program("ncu", std::string(kQuery) + kPage);
  gather();
  const std::vector<std::string> said = calls("ncu");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "--query-metrics");
  for (const char* words :
       {"--profile-from-start off", "--clock-control none", "--target-processes all",
        "--print-units base", "--section SpeedOfLight", " profiled-call ", "/proc/"})
    EXPECT_NE(said[1].find(words), std::string::npos) << words << "\n" << said[1];
  EXPECT_NE(said[1].find("--metrics gpu__time_duration.sum,"), std::string::npos) << said[1];
  EXPECT_NE(said[1].find("dram__bytes_read.sum"), std::string::npos);
  EXPECT_EQ(said[1].find("dram__bytes_write.sum"), std::string::npos) << "this GPU has it not";
  EXPECT_EQ(said[1].find("gpu__time_active"), std::string::npos) << "the same by another name";
}

TEST_F(EvidenceTest, KeepsTheReport) {
  request_.report = folder_.path() + "/kept.ncu-rep";
  request_.ncu = program("ncu", std::string(kQuery) +
                                    "if [ \"$1\" = --import ]; then test -f \"$2\" || exit 9\n" +
                                    kPage + "exit 0; fi\n" +
                                    "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo x > "
                                    "\"$2.ncu-rep\"; shift; done\n");
  const Evidence evidence = gather();
  EXPECT_TRUE(evidence.examined.counters) << evidence.examined.no_counters;
  EXPECT_EQ(evidence.examined.ncu_report, request_.report);
  EXPECT_TRUE(os::exists(request_.report));
}

TEST_F(EvidenceTest, DoesNotTakeAnOldReportForANewOne) {
  request_.report = folder_.path() + "/kept.ncu-rep";
  ASSERT_TRUE(os::write_file(request_.report, "of another kernel"));
  request_.ncu = program("ncu", std::string(kQuery) +
                                    "if [ \"$1\" = --import ]; then test -f \"$2\" || exit 9\n" +
                                    kPage + "fi\nexit 0\n");
  const Evidence evidence = gather();
  EXPECT_FALSE(evidence.examined.counters);
  EXPECT_EQ(evidence.examined.ncu_report, "");
  EXPECT_NE(evidence.examined.no_counters.find("ended with code 9"), std::string::npos)
      << evidence.examined.no_counters;
}

TEST_F(EvidenceTest, GoesOnWithoutMetricsNobodyKnows) {
  request_.ncu =
      program("ncu", std::string(kQuery) +
                         "case \"$*\" in *sm__throughput*) echo '==ERROR== Failed to find metric "
                         "sm__throughput.avg.pct_of_peak_sustained_elapsed'; exit 9;; esac\n" +
                         kPage);
  EXPECT_TRUE(gather().examined.counters);
  EXPECT_EQ(calls("ncu").size(), 3u);
  EXPECT_TRUE(gather().examined.counters);
  EXPECT_EQ(calls("ncu").size(), 4u) << "it was remembered";
}

TEST_F(EvidenceTest, AsksOnceWhereItIsForbidden) {
  request_.ncu = program("ncu", std::string(kQuery) +
                                    "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have "
                                    "permission to access NVIDIA GPU Performance Counters'\n"
                                    "exit 1\n");
  for (int i = 0; i < 2; ++i) {
    const Evidence evidence = gather();
    EXPECT_FALSE(evidence.examined.counters);
    EXPECT_EQ(evidence.examined.no_counters, profile::counters_forbidden_advice());
  }
  EXPECT_EQ(calls("ncu").size(), 2u);
}

struct Failing {
  const char* name;
  const char* body;
  const char* said;
};
class FailingProfiler : public EvidenceTest, public ::testing::WithParamInterface<Failing> {};

TEST_P(FailingProfiler, IsAReasonAndNoFailure) {
  request_.profiler_seconds = 1;
  request_.ncu = program("ncu", std::string(kQuery) + GetParam().body);
  const Evidence evidence = gather();
  EXPECT_FALSE(evidence.examined.counters);
  EXPECT_NE(evidence.examined.no_counters.find(GetParam().said), std::string::npos)
      << evidence.examined.no_counters;
  EXPECT_EQ(known(evidence.examined.metrics, "global_load_sectors"), 512);
}

INSTANTIATE_TEST_SUITE_P(
    All, FailingProfiler,
    ::testing::Values(
        Failing{"Crashes", "kill -SEGV $$\n", "killed by signal 11"},
        Failing{"Refuses", "echo '==ERROR== The application returned an error code (1).'; exit 1\n",
                "ended with code 1: The application returned an error code (1)."},
        Failing{"TellsWhatOurProcessSaid",
                "echo 'kernelwright: the image does not load' >&2\n"
                "echo '==ERROR== The application returned an error code (1).'; exit 1\n",
                "ended with code 1: the image does not load"},
        Failing{"Hangs", "sleep 30\n", "did not finish within 1 s"},
        Failing{"SaysNothing", "exit 0\n", "ncu printed nothing"},
        Failing{"PrintsRubbish", "echo hello\n", "what ncu printed"},
        Failing{"SeesNoKernel", "echo '==WARNING== No kernels were profiled.'\n",
                "what ncu printed"},
        Failing{"SeesAnotherKernel",
                "echo '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"'\n"
                "echo '\"\",\"\",\"ns\"'\necho '\"0\",\"fill(int)\",\"5\"'\n",
                "kernel 'twice' was not profiled"},
        Failing{
            "CountsNothing",
            "echo '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"'\n"
            "echo '\"\",\"\",\"ns\",\"byte\"'\necho '\"0\",\"twice(int)\",\"0\",\"0\"'\n",
            "what ncu printed"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(EvidenceTest, AnImportedProfileMustBeOfTheModule) {
  request_.imported =
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n"
      "\"0\",\"other(int)\",\"5\"\n";
  request_.imported_name = "mine.csv";
  auto evidence = gather_evidence(request_, tools_);
  ASSERT_FALSE(evidence);
  EXPECT_EQ(evidence.error().blame, Blame::Input);
  EXPECT_NE(evidence.error().message.find("mine.csv"), std::string::npos);
  request_.imported = replace_all(request_.imported, "other", "twice");
  EXPECT_TRUE(gather().examined.counters);
}

constexpr const char* kListing =
    "cat <<'P'\n"
    "\t.headerflags\t@\"EF_CUDA_SM90 EF_CUDA_PARAMETER_CONTINUATION\"\n"
    ".section\t.text.twice,\"ax\",@progbits\n"
    ".text.twice:\n"
    "        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;\n"
    "        /*0010*/                   STG.E.128 desc[UR4][R2.64], R4 ;\n"
    "        /*0020*/                   EXIT ;\n"
    "P\n";

TEST_F(EvidenceTest, ReadsMachineCode) {
  request_.disassembler = compile::Disassembler{program("nvdisasm", kListing), ""};
  const Evidence evidence = gather();
  ASSERT_EQ(evidence.examined.sass.size(), 1u) << evidence.examined.no_sass;
  EXPECT_EQ(profile::sass_facts(evidence.examined.sass[0]).loads.at(16), 1);
  std::string why;
  const auto code = machine_code(request_, tools_, &why);
  ASSERT_TRUE(code && *code) << why;
  EXPECT_EQ((**code)[0].code.size(), 3u);
  request_.disassembler = compile::Disassembler{};
  const auto nothing = machine_code(request_, tools_, &why);
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  EXPECT_NE(why.find("nvdisasm"), std::string::npos);
}

TEST(NcuQuery, NamesAreReadAndChosen) {
  const std::set<std::string> available = queried_metrics(
      "Device NVIDIA H200 (GH100)\n-----\nMetric Name   Metric Type\n"
      "sm__throughput                Throughput    %\n"
      "dram__bytes_op_read           Counter       byte\n"
      "smsp__warp_issue_stalled_barrier_per_warp_active  Ratio\n"
      "                              continued words__here\n");
  EXPECT_EQ(available.size(), 3u);
  EXPECT_EQ(metrics_to_ask(available),
            (std::vector<std::string>{"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                      "dram__bytes_op_read.sum",
                                      "smsp__warp_issue_stalled_barrier_per_warp_active.pct"}));
  EXPECT_TRUE(metrics_to_ask({}).empty());
}

}  // namespace
}  // namespace kw::evidence
