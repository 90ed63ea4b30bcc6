#include "workflows/eval.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "store/run.h"

namespace kw::workflows {
namespace {

namespace fs = std::filesystem;

SynthesisReport timed_report() {
  SynthesisReport report;
  report.passed = report.measured = report.certified = true;
  report.run_id = "run-1";
  report.folder = "/runs/run-1";
  report.device = "a GPU";
  report.dims = "B=4 D=8";
  report.us = 50;
  report.floor_us = 45;
  report.of_floor = 0.9;
  report.cells = 10;
  report.max_z = 0.3;
  report.tried = 12;
  report.baselines = {{"eager", 100, 2.0, "FASTER", "", 1.9, 2.1},
                      {"compile", 60, 1.2, "FASTER", "", 1.15, 1.25},
                      {"max-autotune-no-cudagraphs", 55, 1.1, "FASTER", "", 1.05, 1.15}};
  report.speedup = 1.1;
  report.relation = "FASTER";
  report.document = Json::object().set(
      "report", Json::object().set("total_cost_usd", 0.25).set("total_llm_tokens_in", 7));
  return report;
}

TEST(EvalRow, TakesTheBestBaseline) {
  const suites::TaskRow row = row_of(timed_report(), {});
  EXPECT_TRUE(row.passed);
  EXPECT_EQ(row.model_id, "builtin");
  EXPECT_EQ(row.best_baseline, "max-autotune-no-cudagraphs");
  EXPECT_DOUBLE_EQ(*row.speedup, 1.1);
  EXPECT_DOUBLE_EQ(*row.speedup_low, 1.05);
  EXPECT_DOUBLE_EQ(*row.speedup_vs_reference, 2.0);
  EXPECT_DOUBLE_EQ(*row.speedup_vs_torch_compile, 1.1);
  EXPECT_EQ(row.baseline_status, "ok");
  EXPECT_DOUBLE_EQ(*row.cost_usd, 0.25);
  EXPECT_EQ(row.tokens_in, 7);
  EXPECT_DOUBLE_EQ(*row.max_z, 0.3);
}

TEST(EvalRow, WithoutAClockNothingIsClaimed) {
  SynthesisReport report = timed_report();
  report.measured = false;
  report.baselines.clear();
  report.speedup.reset();
  report.relation.clear();
  const suites::TaskRow row = row_of(report, {});
  EXPECT_EQ(row.baseline_status, "skipped");
  EXPECT_FALSE(row.speedup.has_value());
  EXPECT_FALSE(row.measured);
  EXPECT_DOUBLE_EQ(*row.time_us, 50);  // an estimate
}

struct Kind {
  const char* name;
  std::optional<Blame> blame;
  const char* want;
};
class EvalFailure : public testing::TestWithParam<Kind> {};

TEST_P(EvalFailure, IsToldApartByBlame) {
  SynthesisReport report;
  report.failed_stage = "search";
  report.failure_reason = "why";
  if (GetParam().blame) report.error_blame = static_cast<int>(*GetParam().blame);
  const suites::TaskRow row = row_of(report, {});
  EXPECT_FALSE(row.passed);
  EXPECT_EQ(row.failure_kind, GetParam().want);
  EXPECT_EQ(row.failed_stage, "search");
  EXPECT_EQ(row.baseline_status, "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, EvalFailure,
                         testing::Values(Kind{"NoCandidate", std::nullopt, suites::kStageFailure},
                                         Kind{"Task", Blame::Input, suites::kTaskError},
                                         Kind{"Machine", Blame::Environment,
                                              suites::kExternalError},
                                         Kind{"Ours", Blame::Bug, suites::kRunnerError}),
                         [](const testing::TestParamInfo<Kind>& row) { return row.param.name; });

/// A suite of one good task in an empty folder.
EvalRequest suite_in(const fs::path& root) {
  fs::remove_all(root);
  fs::create_directories(root / "suite");
  std::ofstream(root / "suite" / "good.py") << "good";
  EvalRequest request;
  request.runner.suite = root / "suite";
  request.runner.out = root / "out";
  return request;
}

TEST(EvalSuite, RunsEveryTaskThroughSynthesize) {
  const fs::path root = fs::path(testing::TempDir()) / "kw_eval_suite";
  EvalRequest request = suite_in(root);
  std::ofstream(root / "suite" / "broken.py") << "broken";
  request.runner.jobs = 2;
  std::vector<std::string> outs;
  std::mutex mutex;
  EvalTools tools;
  tools.synthesize = [&](const SynthesizeRequest& asked,
                         const SynthesisWatcher& watcher) -> Result<SynthesisReport> {
    watcher({});
    const std::lock_guard guard(mutex);
    outs.push_back(asked.out);
    EXPECT_GE(asked.threads, 1);
    if (asked.reference.ends_with("broken.py")) return input_error("cannot be read");
    return timed_report();
  };
  const auto evaluation = eval_suite(request, tools);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  ASSERT_EQ(evaluation->rows.size(), 2U);
  EXPECT_EQ(evaluation->rows[0].failure_kind, suites::kTaskError);
  EXPECT_TRUE(evaluation->rows[1].passed);
  EXPECT_EQ(outs.size(), 2U);
  EXPECT_NE(outs[0], outs[1]);
  // The budget is part of the settings.
  request.runner.resume = true;
  request.each.seconds = 5;
  EXPECT_FALSE(eval_suite(request, tools));
  fs::remove_all(root);
}

TEST(EvalSuite, AResumedOneGoesOnWithTheRunThatWasCut) {
  const fs::path root = fs::path(testing::TempDir()) / "kw_eval_resumed";
  EvalRequest request = suite_in(root);
  int begun = 0;
  std::vector<std::string> folders, resumed;
  EvalTools tools;
  tools.synthesize = [&](const SynthesizeRequest& asked,
                         const SynthesisWatcher&) -> Result<SynthesisReport> {
    ++begun;
    const store::Run run = KW_TRY(store::Run::create({asked.out, ""}, {}));
    folders.push_back(run.folder());
    SynthesisReport report = timed_report();
    report.interrupted = true;
    return report;
  };
  tools.resume = [&](const ContinueRequest& how, const SynthesisWatcher&) {
    resumed.push_back(how.folder);
    return Result<SynthesisReport>(timed_report());
  };
  ASSERT_TRUE(eval_suite(request, tools));
  EXPECT_EQ(begun, 1);
  EXPECT_TRUE(resumed.empty()) << "a new evaluation begins anew";
  request.runner.resume = true;
  const auto evaluation = eval_suite(request, tools);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(resumed, folders);
  ASSERT_EQ(evaluation->rows.size(), 1U);
  EXPECT_TRUE(evaluation->rows[0].passed);
  fs::remove_all(root);
}

TEST(EvalSuite, ARunThatCannotGoOnIsBegunAnew) {
  const fs::path root = fs::path(testing::TempDir()) / "kw_eval_anew";
  EvalRequest request = suite_in(root);
  int begun = 0, asked = 0;
  EvalTools tools;
  tools.synthesize = [&](const SynthesizeRequest& each,
                         const SynthesisWatcher&) -> Result<SynthesisReport> {
    const store::Run run = KW_TRY(store::Run::create({each.out, ""}, {}));
    SynthesisReport report = timed_report();
    report.interrupted = ++begun == 1;
    return report;
  };
  tools.resume = [&](const ContinueRequest&, const SynthesisWatcher&) -> Result<SynthesisReport> {
    ++asked;
    return input_error("the task changed since this run started");
  };
  ASSERT_TRUE(eval_suite(request, tools));
  request.runner.resume = true;
  const auto evaluation = eval_suite(request, tools);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(evaluation->rows.size(), 1U);
  fs::remove_all(root);
}

TEST(EvalProgress, IsOneLine) {
  SynthesisProgress progress;
  progress.stage = "search";
  EXPECT_EQ(progress_text(progress), "search");
  progress.tried = 41;
  progress.best_us = 12.34;
  progress.of_floor = 0.958;
  EXPECT_EQ(progress_text(progress), "search, 41 tried, best 12.3 us est., 96 % of the floor");
}

}  // namespace
}  // namespace kw::workflows
