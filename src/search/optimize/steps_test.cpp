#include "optimize/steps.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "optimize/summary_page.h"
#include "optimize/test_run.h"

namespace kw::optimize {
namespace {

using Steps = TestRun;

TEST_F(Steps, SetupLeavesARunThatIsReady) {
  const Outcome outcome = set_up();
  EXPECT_TRUE(outcome.ok);
  EXPECT_FALSE(outcome.document["early_stop"].as_bool(true));
  const Folder& folder = reopen();
  EXPECT_EQ(folder.state.phase, Phase::Ready);
  EXPECT_DOUBLE_EQ(folder.state.threshold_pct(), 1);
  for (const char* name :
       {"state.json", "env.json", "journal.jsonl", "baseline/plain.cu", "baseline/bench.json",
        "baseline/roofline.json", "baseline/ncu_top.json", "baseline/best_input.ncu-rep"})
    EXPECT_TRUE(folder.has(name)) << name;
}

TEST_F(Steps, SetupOfAFailingBaselineLeavesNothing) {
  baseline_ = {"verdict wrong"};
  const Outcome outcome = set_up();
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.text.find("does not pass (wrong)"), std::string::npos) << outcome.text;
  EXPECT_FALSE(os::exists(base_ + "/run"));
}

TEST_F(Steps, SetupOfNoModuleSaysWhatIsWrongWithIt) {
  SetupRequest bad = request();
  bad.text = "int main() {}\n";
  const Result<Outcome> outcome = setup(bad, tools_, folder_, {});
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
  EXPECT_NE(outcome->text.find("kernelwright 1"), std::string::npos) << outcome->text;
  EXPECT_TRUE(tools_.races.empty());
}

TEST_F(Steps, OpenWritesWhatAnAgentNeeds) {
  const Folder& folder = open_first();
  for (const char* name : {"roofline.json", "ncu_top.json", "plan.json", "analysis.md",
                           "best_input.ncu-rep", "branches/b1", "branches/b4", "ablations"})
    EXPECT_TRUE(folder.has(Folder::in_iteration(1, name))) << name;
  EXPECT_FALSE(folder.has("iterv1/methods.json"));
  EXPECT_FALSE(folder.has("iterv1/branches/b5"));
}

// One iteration, each step in its own process.
TEST_F(Steps, EveryStepGoesOnInAnotherProcess) {
  open_first();
  reopen();
  claim({kWide, kShuffle});
  put_branch("b1", fake_kernel({"us 60", "sass LDG.E.128"}));
  put_branch("b2", fake_kernel(wide_kernel()));
  CloseOptions options;
  options.skip_validation = true;
  const Result<Outcome> raced = branch(reopen(), tools_, options);
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->document["champion"]["branch_index"].as_int(), 2);
  EXPECT_EQ(reopen().state.phase, Phase::Raced);
  const Result<Outcome> ablated = ablate(reopen(), tools_, options);
  ASSERT_TRUE(ablated) << ablated.error().message;
  EXPECT_EQ(reopen().state.phase, Phase::Ablated);
  EXPECT_TRUE(folder_->has("iterv1/ablations/no_" + kWide + "/kernel.cu"));
  EXPECT_TRUE(folder_->has("iterv1/ablations/no_" + kWide + "/bench.json"));
  const Result<Outcome> seen = check_sass(reopen(), tools_, options);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(reopen().state.phase, Phase::Checked);
  const size_t races = tools_.races.size();
  const Result<Outcome> closed = close_iter(reopen(), tools_, options);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(tools_.races.size(), races) << "nothing is done twice";
  const State& state = reopen().state;
  EXPECT_EQ(state.phase, Phase::Closed);
  EXPECT_EQ(ids_in(state.effective), kWide);
  EXPECT_EQ(ids_in(state.ineffective), kShuffle);
  EXPECT_EQ(state.best.file, "iterv1/kernel.cu");
  EXPECT_EQ(state.best.methods, (std::vector<std::string>{kWide, kShuffle}));
  ASSERT_EQ(state.frontier.items().size(), 1U);
  EXPECT_EQ(state.frontier.items()[0]["why"].as_string(), "20.0 % slower than b2");
  ASSERT_EQ(state.bans.size(), 1U);
  EXPECT_EQ(state.bans[0].method, kShuffle);
  EXPECT_EQ(state.roofline_history.items().size(), 2U);
}

TEST_F(Steps, CloseDoesEverything) {
  open_first();
  claim({kWide});
  put_branch("b0", fake_kernel(wide_kernel()));  // the other numbering
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_TRUE(closed->ok);
  EXPECT_EQ(closed->document["champion"]["branch"].as_string(), "b0");
  for (const char* name : {"kernel.cu", "bench.json", "branch_results.json", "attribution.json",
                           "sass_check.json", "kernel_ncu_top.json", "branches/b0/bench.json"})
    EXPECT_TRUE(folder_->has(Folder::in_iteration(1, name))) << name;
  const Json attribution = folder_->read_json("iterv1/attribution.json").value();
  EXPECT_NEAR(attribution["attributions"].items()[0]["attribution_pct"].as_double(), 60, 1e-6);
}

TEST_F(Steps, ClosingTwiceIsRefused) {
  open_first();
  claim({});
  put_branch("b1", fake_kernel({"us 90"}));
  ASSERT_TRUE(close());
  const Result<Outcome> again = close();
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("open-iter --run-dir"), std::string::npos);
}

TEST_F(Steps, OpeningTwiceIsRefused) {
  Folder& folder = open_first();
  const Result<Outcome> again = open_iter(folder, 2, false);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("iteration 1 is open"), std::string::npos);
}

TEST_F(Steps, WithoutMethodsNothingIsRaced) {
  open_first();
  put_branch("b1", fake_kernel({"us 90"}));
  const size_t races = tools_.races.size();
  const Result<Outcome> closed = close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("iterv1/methods.json"), std::string::npos);
  EXPECT_NE(closed.error().message.find("plan.json"), std::string::npos);
  EXPECT_EQ(tools_.races.size(), races);
}

TEST_F(Steps, UnknownMethodsAreRefusedBeforeAnythingIsCompiled) {
  open_first();
  claim({"memory.vectorised_access"});
  put_branch("b1", fake_kernel({"us 90"}));
  const size_t races = tools_.races.size();
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->ok);
  EXPECT_NE(closed->text.find("did you mean 'memory.vectorized_access'?"), std::string::npos);
  EXPECT_EQ(tools_.races.size(), races);
  EXPECT_EQ(reopen().state.phase, Phase::Opened);
  EXPECT_EQ(folder_->state.retries, 0) << "nothing was tried";
}

TEST_F(Steps, WithoutBranchesNothingIsCounted) {
  open_first();
  claim({});
  const Result<Outcome> closed = close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("write b1/kernel.cu"), std::string::npos);
  write(folder_->at("iterv1/branches/b1/kernel.py"), "pass\n");
  EXPECT_NE(close().error().message.find("kernel.py is not a kernel module"), std::string::npos);
  EXPECT_EQ(reopen().state.retries, 0);
}

TEST_F(Steps, TheParentUnchangedIsNoBranch) {
  open_first();
  claim({});
  put_branch("b1", request().text);
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->ok);
  EXPECT_NE(closed->text.find("it is the parent, unchanged"), std::string::npos);
}

TEST_F(Steps, AfterThreeRetriesAnIterationIsGivenUp) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel({"verdict wrong"}));
  put_branch("b2", "this does not compile\n");
  for (int i = 1; i <= kMostRetries; ++i) {
    const Result<Outcome> closed = close();
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_FALSE(closed->ok);
    EXPECT_EQ(closed->document["retries_left"].as_int(), kMostRetries + 1 - i);
    EXPECT_EQ(closed->document["branches"].items()[0]["error"].as_string(), "wrong by design");
    EXPECT_EQ(reopen().state.phase, Phase::Opened);
  }
  const Result<Outcome> last = close();
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->document["recorded"].as_bool());
  const State& state = reopen().state;
  EXPECT_EQ(state.phase, Phase::Closed);
  EXPECT_EQ(ids_in(state.implementation_failed), kWide);
  EXPECT_EQ(state.history.items()[0]["status"].as_string(), "failed_validation");
  EXPECT_TRUE(open_iter(*folder_, 2, false));
}

TEST_F(Steps, AMendedBranchGoesOn) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel({"verdict wrong"}));
  ASSERT_TRUE(close());
  put_branch("b1", fake_kernel(wide_kernel()));
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_TRUE(closed->ok);
  EXPECT_EQ(reopen().state.history.items()[0]["retries"].as_int(), 1);
}

TEST_F(Steps, ChangesAfterTheRaceAreSeen) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel(wide_kernel()));
  CloseOptions options;
  options.skip_validation = true;
  ASSERT_TRUE(branch(*folder_, tools_, options));
  put_branch("b1", fake_kernel({"us 1"}));
  const Result<Outcome> closed = close();
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("b1/kernel.cu was changed after the race"),
            std::string::npos);
  ASSERT_TRUE(branch(*folder_, tools_, options)) << "it can be raced again";
  put_branch("b2", fake_kernel({"us 2"}));
  EXPECT_NE(close().error().message.find("b2/kernel.cu"), std::string::npos);
  ASSERT_TRUE(branch(*folder_, tools_, options));
  claim({kShuffle});
  EXPECT_NE(close().error().message.find("methods.json was changed"), std::string::npos);
}

TEST_F(Steps, EvidenceThatWasEditedIsRefused) {
  open_first();
  write(folder_->at("baseline/roofline.json"), "{}\n");
  claim({});
  const Result<Outcome> checked = validate_methods(*folder_, 1);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("is not what kernelwright wrote"), std::string::npos);
}

TEST_F(Steps, BaselineReferenceAndMachineAreFrozen) {
  open_first();
  claim({});
  put_branch("b1", fake_kernel({"us 90"}));
  write(reference_, "def reference(x): return 2 * x\n");
  EXPECT_NE(close().error().message.find("reference"), std::string::npos);
  write(reference_, "def reference(x): return x\n");
  tools_.facts.task_hash = "another";
  EXPECT_NE(close().error().message.find("was changed after setup"), std::string::npos);
  tools_.facts.task_hash = FakeTools().facts.task_hash;
  tools_.clock = false;
  EXPECT_EQ(close().error().blame, Blame::Environment);
  tools_.clock = true;
  tools_.facts.target = "sm_80";
  EXPECT_NE(close().error().message.find("sm_80"), std::string::npos);
  tools_.facts.target = "sm_90a";
  write(folder_->at("baseline/plain.cu"), "other");
  EXPECT_NE(close().error().message.find("plain.cu was changed after setup"), std::string::npos);
}

TEST_F(Steps, NearThePeakNothingIsOpened) {
  tools_.roofline.near_peak = true;
  const Outcome begun = set_up();
  EXPECT_TRUE(begun.document["early_stop"].as_bool());
  const Result<Outcome> opened = open_iter(*folder_, 1, false);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("near the peak (10 % of what is possible)"),
            std::string::npos)
      << opened.error().message;
  EXPECT_TRUE(open_iter(*folder_, 1, true));
}

struct AblationRow {
  const char* spelling;
  bool read;
};
class Spellings : public Steps, public testing::WithParamInterface<AblationRow> {};

TEST_P(Spellings, OfAblationFolders) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel(wide_kernel(), ""));  // no method lines: no switch
  write(folder_->at(std::string("iterv1/ablations/") + GetParam().spelling + "/kernel.cu"),
        fake_kernel({"us 75", "sass LDG.E"}, ""));
  ASSERT_TRUE(close());
  const State& state = reopen().state;
  EXPECT_EQ(ids_in(state.effective), GetParam().read ? kWide : "");
  EXPECT_EQ(ids_in(state.unverified), GetParam().read ? "" : kWide);
}

INSTANTIATE_TEST_SUITE_P(All, Spellings,
                         testing::Values(AblationRow{"no_memory.vectorized_access", true},
                                         AblationRow{"no_memory_vectorized_access", true},
                                         AblationRow{"memory_vectorized_access", true},
                                         AblationRow{"memory.vectorized_access", true},
                                         AblationRow{"no_vectorized_access", true},
                                         AblationRow{"without_it", false}));

TEST_F(Steps, WhatOnlyTheKernelClaimsIsJudgedToo) {
  open_first();
  claim({kShuffle});
  put_branch("b1", fake_kernel(wide_kernel()));
  ASSERT_TRUE(close());
  const State& state = reopen().state;
  EXPECT_EQ(ids_in(state.effective), kWide);
  EXPECT_FALSE(state.effective.items()[0]["claimed"].as_bool(true));
  EXPECT_EQ(ids_in(state.ineffective), kShuffle);
  EXPECT_EQ(ids_in(state.selected), kShuffle);
}

TEST_F(Steps, MethodsOfOneSwitchShareARace) {
  open_first();
  claim({kWide, kShuffle});
  put_branch("b1", fake_kernel({"us 50", "us VEC=1 80", "sass VEC=4 LDG.E.128",
                                "sass VEC=4 SHFL.BFLY", "sass VEC=1 LDS"},
                               "//! method  memory.vectorized_access when VEC > 1, off VEC=1\n"
                               "//! method  compute.warp_shuffle when VEC > 1, off VEC=1\n"));
  ASSERT_TRUE(close());
  EXPECT_EQ(tools_.races.back().size(), 2U) << "the champion, and one kernel without both";
  EXPECT_EQ(ids_in(reopen().state.effective), kWide + " " + kShuffle);
  const Json attribution = folder_->read_json("iterv1/attribution.json").value();
  EXPECT_EQ(attribution["attributions"].items()[0]["note"].as_string(),
            "switched off with it: compute.warp_shuffle");
}

TEST_F(Steps, AMethodThatIsNotThereFailed) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel({"us 50", "us VEC=1 80", "sass LDG.E"},
                               "//! method  memory.vectorized_access when VEC > 1, off VEC=1\n"
                               "//! method  compute.warp_shuffle\n"));
  ASSERT_TRUE(close());
  EXPECT_EQ(ids_in(reopen().state.implementation_failed), kWide);
  EXPECT_TRUE(folder_->state.best.methods == std::vector<std::string>{kShuffle})
      << "what failed is not said to be in the kernel";
}

TEST_F(Steps, AnEssentialMethodOfAFasterKernelIsEffective) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel({"us 50", "verdict VEC=1 wrong", "sass VEC=4 LDG.E.128",
                                "sass VEC=1 LDG.E"}));
  ASSERT_TRUE(close());
  EXPECT_EQ(ids_in(reopen().state.effective), kWide);
}

TEST_F(Steps, ASlowerChampionIsNotAdopted) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel({"us 130", "us VEC=1 160", "sass VEC=4 LDG.E.128", "sass LDG.E"}));
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed);
  EXPECT_TRUE(closed->ok);
  EXPECT_EQ(closed->document["status"].as_string(), "regressed");
  EXPECT_EQ(reopen().state.best.iter, 0);
}

TEST_F(Steps, LessThanTheThresholdIsNotAdopted) {
  tools_.mde_pct = 5;
  open_first();
  claim({});
  put_branch("b1", fake_kernel({"us 97"}));
  ASSERT_TRUE(close());
  EXPECT_EQ(reopen().state.best.iter, 0);
  EXPECT_EQ(folder_->state.history.items()[0]["status"].as_string(), "unchanged");
}

TEST_F(Steps, WithoutAClockNothingIsEffective) {
  tools_.clock = false;
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel(wide_kernel()));
  const Result<Outcome> closed = close();
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_NE(closed->text.find("(estimated)"), std::string::npos);
  const State& state = reopen().state;
  EXPECT_EQ(ids_in(state.effective), "");
  EXPECT_EQ(ids_in(state.unverified), kWide + " " + kShuffle);
  EXPECT_EQ(state.best.iter, 1) << "the better estimate is still gone on with";
  EXPECT_FALSE(state.best.measured);
}

TEST_F(Steps, AMethodWithoutSignatureShowsInCounters) {
  open_first();
  claim({"memory.coalesced_access"});
  const std::string claims = "//! method  memory.coalesced_access when VEC > 1, off VEC=1\n";
  put_branch("b1",
             fake_kernel({"us 50", "us VEC=1 90", "sass LDG.E", "sass VEC=1 IMAD",
                          "metric VEC=4 load_efficiency_pct 100",
                          "metric VEC=1 load_efficiency_pct 25", "metric store_efficiency_pct 100"},
                         claims));
  ASSERT_TRUE(close());
  EXPECT_EQ(ids_in(reopen().state.effective), "memory.coalesced_access");
  const Json checks = folder_->read_json("iterv1/sass_check.json").value();
  EXPECT_EQ(checks["checks"].items()[0]["by"].as_string(), "counters");
}

TEST_F(Steps, OverriddenRefusalsAreRecorded) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel(wide_kernel()));
  const Result<Outcome> gate = validate_methods(*folder_, 1);
  ASSERT_TRUE(gate);
  EXPECT_FALSE(gate->ok);
  CloseOptions strict;
  const Result<Outcome> refused = close_iter(*folder_, tools_, strict);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->ok);
  ASSERT_TRUE(close());
  EXPECT_FALSE(reopen().state.history.items()[0]["overridden"].items().empty());
  EXPECT_NE(summary_text(folder_->state).find("adopted, gate overridden"), std::string::npos);
}

TEST_F(Steps, FinalizeRacesBaselineAndBestTogether) {
  open_first();
  claim({kWide});
  put_branch("b1", fake_kernel(wide_kernel()));
  ASSERT_TRUE(close());
  const Result<Outcome> done = finalize(reopen(), &tools_, false, {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(tools_.races.back().size(), 2U);
  EXPECT_DOUBLE_EQ(done->document["speedup"].as_double(), 2);
  EXPECT_TRUE(folder_->has("summary.md"));
  EXPECT_FALSE(open_iter(reopen(), 2, true));
  EXPECT_FALSE(finalize(*folder_, nullptr, true, {}));
}

TEST_F(Steps, FinalizeGivesUpAnOpenIterationOnlyByForce) {
  open_first();
  EXPECT_FALSE(finalize(*folder_, nullptr, false, {}));
  ASSERT_TRUE(finalize(*folder_, nullptr, true, {}));
  EXPECT_EQ(reopen().state.history.items()[0]["status"].as_string(), "abandoned");
}

}  // namespace
}  // namespace kw::optimize
