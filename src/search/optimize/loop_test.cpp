#include "optimize/loop.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/golden.h"
#include "core/text.h"
#include "optimize/summary_page.h"
#include "optimize/test_run.h"

namespace kw::optimize {
namespace {

class Loop : public TestRun {
 protected:
  Loop() {
    baseline_ = {"us 100",
                 "sass LDG.E",
                 "metric launches 1",
                 "metric load_efficiency_pct 30",
                 "metric store_efficiency_pct 100",
                 "metric uses_shared 0",
                 "metric load_bytes_per_thread 4",
                 "metric store_bytes_per_thread 4"};
  }

  Outcome run() {
    set_up();
    Result<Outcome> outcome = optimize_all(*folder_, tools_, author_, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? std::move(outcome).value() : Outcome();
  }

  BranchResult written(const std::vector<std::string>& lines,
                       const std::string& claims = "") const {
    std::vector<std::string> all = baseline_;
    all.insert(all.end(), lines.begin(), lines.end());
    return {{{fake_kernel(all, claims), "a try"}}, {"all"}, {}};
  }

  FakeAuthor author_;
};

TEST_F(Loop, StopsWhenTheAuthorHasNothing) {
  const Outcome outcome = run();
  EXPECT_EQ(outcome.document["stopped"].as_string(), "somebody has no untried method");
  EXPECT_EQ(folder_->state.phase, Phase::Finalized);
  EXPECT_GT(author_.asked.size(), 1U) << "what it could not write is planned around";
  EXPECT_TRUE(author_.asked.back().methods.empty()) << "at last it is asked for tunables alone";
}

TEST_F(Loop, StopsNearThePeak) {
  tools_.roofline.near_peak = true;
  EXPECT_EQ(run().document["stopped"].as_string(), "near the peak: no further speedup is expected");
  EXPECT_TRUE(author_.asked.empty());
}

TEST_F(Loop, PassesItsOwnGateAndAdopts) {
  const std::string claims = "//! method  memory.coalesced_access when VEC > 1, off VEC=1\n";
  author_.answers = {
      written({"us VEC=4 60", "sass VEC=1 IMAD", "metric VEC=4 load_efficiency_pct 100"}, claims)};
  author_.never[kWide] = "its loads are wide already";
  run();
  const State& state = folder_->state;
  ASSERT_EQ(state.history.items().size(), 2U) << "the second one was given up";
  EXPECT_TRUE(state.history.items()[0]["overridden"].items().empty());
  EXPECT_EQ(ids_in(state.effective), "memory.coalesced_access");
  EXPECT_EQ(state.best.iter, 1);
  EXPECT_EQ(author_.asked[1].inherited, std::vector<std::string>{"memory.coalesced_access"});
  for (const Assignment& ask : author_.asked)
    EXPECT_EQ(std::ranges::find(ask.methods, kWide), ask.methods.end());
  const std::string analysis = folder_->read("iterv1/analysis.md").value();
  EXPECT_NE(analysis.find(kWide + ": its loads are wide already"), std::string::npos) << analysis;
}

TEST_F(Loop, FailuresAreFedBack) {
  author_.answers = {written({"verdict wrong"}), written({"us 70"})};
  run();
  ASSERT_GE(author_.asked.size(), 2U);
  EXPECT_EQ(author_.asked[1].retry, 1);
  EXPECT_EQ(author_.asked[1].failures, std::vector<std::string>{"b1: wrong: wrong by design"});
  EXPECT_EQ(author_.asked[1].known.size(), 2U) << "baseline and the failed branch";
  EXPECT_EQ(folder_->state.best.iter, 1);
}

TEST_F(Loop, TakesNoMoreBranchesThanAsked) {
  BranchResult many;
  for (int i = 0; i < 9; ++i)
    many.branches.push_back({fake_kernel({"us " + std::to_string(90 - i)}), "one of many"});
  author_.answers = {many};
  run();
  EXPECT_TRUE(folder_->has("iterv1/branches/b4/kernel.cu"));
  EXPECT_FALSE(folder_->has("iterv1/branches/b5"));
}

TEST_F(Loop, GoesOnWhereAnotherProcessStopped) {
  set_up();
  ASSERT_TRUE(open_iter(*folder_, 1, false));
  author_.answers = {written({"us 70"})};
  const Result<Outcome> outcome = optimize_all(reopen(), tools_, author_, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(folder_->state.best.iter, 1);
  EXPECT_TRUE(optimize_all(reopen(), tools_, author_, {})) << "a finished run only says so";
}

TEST_F(Loop, StopsWhenInterrupted) {
  set_up();
  LoopOptions options;
  options.cancelled = [] { return true; };
  const Result<Outcome> outcome = optimize_all(*folder_, tools_, author_, options);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("continue with: kernelwright optimize --run-dir"),
            std::string::npos);
  EXPECT_EQ(reopen().state.phase, Phase::Ready);
}

TEST_F(Loop, SummaryTellsTheWholeRun) {
  author_.answers = {
      {{{fake_kernel(wide_kernel()), "wide"}, {fake_kernel({"us 55", "sass LDG.E"}), "narrow"}},
       {"all"},
       {}},
      written({"verdict wrong"})};
  run();
  State state = folder_->state;
  state.run_dir = "/runs/run_20261115_091244";
  state.created_at = "2026-11-15T09:12:44Z";
  state.settings.baseline = "/kernels/plain.cu";
  state.settings.reference = "/kernels/ref.py";
  expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/optimize/summary.md",
                summary_text(state));
}

}  // namespace
}  // namespace kw::optimize
