#include "commands/synthesize_text.h"

#include <gtest/gtest.h>

namespace kw::commands {
namespace {

constexpr report::Style kPlain{false};

workflows::SynthesisReport measured_report() {
  workflows::SynthesisReport report;
  report.passed = report.measured = report.certified = true;
  report.task_name = "rms_norm";
  report.run_id = "20261115-1";
  report.folder = "/runs/20261115-1";
  report.kernel_path = "/runs/20261115-1/final/kernel.cu";
  report.design = "rms_norm=block_per_row";
  report.tunes = {{"THREADS", 256}, {"VEC", 8}};
  report.device = "NVIDIA H200";
  report.dims = "B=16384 D=1024";
  report.tried = 40;
  report.rejected = 2;
  report.kept = 37;
  report.stopped = "goal reached: 96 % of the floor";
  report.us = 16.5;
  report.floor_us = 15.8;
  report.of_floor = 15.8 / 16.5;
  report.cells = 64;
  report.max_z = 0.487;
  report.wall_seconds = 31.25;
  workflows::BaselineLine eager;
  eager.name = "eager";
  eager.us = 40;
  eager.speedup = 2.424;
  eager.relation = "FASTER";
  workflows::BaselineLine compiled;
  compiled.name = "compile";
  compiled.problem = "not there";
  report.baselines = {eager, compiled};
  return report;
}

TEST(SynthesizeText, SaysWhatHowSureHowFastAndWhere) {
  EXPECT_EQ(synthesis_text(measured_report(), kPlain),
            "PASSED rms_norm\n"
            "  kernel     /runs/20261115-1/final/kernel.cu\n"
            "  design     rms_norm=block_per_row THREADS=256 VEC=8\n"
            "  right      64 cells on NVIDIA H200, worst error 0.49 of its bound; certified: fresh "
            "inputs from the system's entropy\n"
            "  fast       16.50 us at B=16384 D=1024, 96 % of the floor (15.80 us)\n"
            "  versus     eager: 40.00 us, 2.42 times as fast (FASTER)\n"
            "  versus     baseline compile: not there\n"
            "  search     40 tried, 2 rejected, 37 kept; goal reached: 96 % of the floor\n"
            "  run        20261115-1 in 31.2 s; all files are in /runs/20261115-1\n");
}

TEST(SynthesizeText, SaysTheSameAsAVerdictThatIsNotComplete) {
  workflows::SynthesisReport report = measured_report();
  report.certified = false;
  report.fresh = true;
  report.below = "below 2,000,000,001 elements";
  const std::string text = synthesis_text(report, kPlain);
  EXPECT_TRUE(text.starts_with("PASSED below 2,000,000,001 elements: rms_norm\n")) << text;
  EXPECT_NE(text.find("; fresh inputs; the judgement is not complete, so not certified\n"),
            std::string::npos)
      << text;
}

TEST(SynthesizeText, SaysFirstWhatTheKernelIsMadeFor) {
  workflows::SynthesisReport report = measured_report();
  report.notes = {"another note",
                  "compiled for step=10: the value decides shapes, loops or branches"};
  const std::string text = synthesis_text(report, kPlain);
  EXPECT_TRUE(
      text.starts_with("PASSED rms_norm\n"
                       "  limits     compiled for step=10: the value decides shapes, loops "
                       "or branches\n"
                       "  kernel "))
      << text;
}

TEST(SynthesizeText, AnEstimateIsCalledOneAndSaysHowToMeasure) {
  workflows::SynthesisReport report = measured_report();
  report.measured = false;
  report.baselines.clear();
  const std::string text = synthesis_text(report, kPlain);
  EXPECT_NE(text.find("not measured (no GPU); estimated for an H200: 16.50 us"), std::string::npos);
  EXPECT_NE(text.find("kernelwright tune 20261115-1"), std::string::npos);
}

TEST(SynthesizeText, AnInterruptSaysHowToGoOn) {
  workflows::SynthesisReport report;
  report.interrupted = true;
  report.failed_stage = "search";
  report.error_blame = 1;
  report.folder = "/runs/a b";
  const std::string text = synthesis_text(report, kPlain);
  EXPECT_EQ(text.rfind("INTERRUPTED at stage search\n", 0), 0u) << text;
  EXPECT_NE(text.find("kernelwright resume '/runs/a b'"), std::string::npos) << text;
}

TEST(SynthesizeText, SoDoesATroubleOfTheMachine) {
  workflows::SynthesisReport report;
  report.failed_stage = "search";
  report.folder = "/runs/a";
  report.error_blame = static_cast<int>(Blame::Environment);
  EXPECT_NE(synthesis_text(report, kPlain).find("kernelwright resume /runs/a"), std::string::npos);
  report.error_blame = static_cast<int>(Blame::Input);
  EXPECT_EQ(synthesis_text(report, kPlain).find("kernelwright resume"), std::string::npos);
}

TEST(SynthesizeText, AFailedSearchSaysWhy) {
  workflows::SynthesisReport report;
  report.task_name = "odd";
  report.failed_stage = "certify";
  report.failure_reason = "none of 3 candidates passed; the last: wrong: \x1b[31m";
  const std::string text = synthesis_text(report, kPlain);
  EXPECT_EQ(text.rfind("FAILED odd at stage certify: none of 3", 0), 0u) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "nothing reaches the terminal unfiltered";
}

TEST(SynthesizeText, ProgressIsOneShortLine) {
  workflows::SynthesisProgress progress;
  progress.stage = "measuring";
  progress.seconds = 12.34;
  EXPECT_EQ(progress_text(progress), "[ 12.3 s] measuring");
  progress.tried = 16;
  progress.rejected = 1;
  progress.best_us = 17;
  progress.measured = true;
  progress.of_floor = 0.93;
  progress.eta_seconds = 47.6;
  EXPECT_EQ(
      progress_text(progress),
      "[ 12.3 s] measuring: 16 tried, 1 rejected, best 17.00 us (93 % of floor), at most 48 s "
      "more");
  progress.measured = false;
  progress.detail = std::string(300, 'x');
  const std::string text = progress_text(progress);
  EXPECT_NE(text.find("best est. 17.00 us"), std::string::npos);
  EXPECT_LT(text.size(), 120u) << "a line that wraps cannot be rewritten";
}

}  // namespace
}  // namespace kw::commands
