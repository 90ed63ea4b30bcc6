#include "commands/inspect_text.h"

#include <gtest/gtest.h>

#include "core/golden.h"

namespace kw::commands {
namespace {

void expect_golden(const std::string& name, const std::string& got) {
  kw::expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/runs/" + name + ".txt", got);
}

store::RunRow measured() {
  store::RunRow run;
  run.id = "20261115-091244-rms_norm-3f2a";
  run.folder = "/runs/20261115-091244-rms_norm-3f2a";
  run.name = "rms_norm";
  run.created = "2026-11-15T09:12:44Z";
  run.status = "passed";
  run.proposer = "builtin";
  run.target = "sm_90";
  run.candidates = 24, run.judged = 20, run.passed = 11;
  run.seconds = 12.34;
  run.best_us = 411.72, run.estimate_us = 398.0, run.speedup = 2.5;
  run.bytes = 1536000;
  return run;
}

store::RunRow estimated() {
  store::RunRow run = measured();
  run.id = "20261115-102000-softmax-00a1";
  run.folder = "/home/a user/runs/" + run.id;
  run.name = "softmax";
  run.status = "interrupted";
  run.best_us = run.speedup = std::nullopt;
  return run;
}

store::RunRow broken() {
  store::RunRow run;
  run.id = "20261115-110000-x\x1b[31m-0000";
  run.status = "damaged";
  run.bytes = 12;
  return run;
}

store::CandidateRow row(int number, const std::string& verdict) {
  store::CandidateRow one;
  one.id = "00000000000000a" + std::to_string(number);
  one.number = number;
  one.origin = "row program, block per row, 16-byte loads";
  one.tunes = {{"THREADS", 128 * number}, {"VEC", 8}};
  one.verdict = verdict;
  return one;
}

workflows::RunView view() {
  workflows::RunView view;
  view.run = measured();
  view.sessions = 3, view.crashes = 1;
  view.prompt = "fp16, throughput\n";
  view.kernel_path = view.run.folder + "/final/kernel.cu";
  view.damage = {"candidates/00000000000000a4/verdict.json is not JSON"};
  view.candidates = {row(1, "passed"), row(2, "passed"), row(3, "wrong"), row(4, "")};
  view.candidates[2].judge = 1;
  view.candidates[0].microseconds = 411.72;
  view.candidates[1].estimate_us = 500.25;
  view.candidates[2].stage = "numerics";
  view.stopped["numerics"] = 1;
  view.candidates[2].reason = "y[3, 17] is 1.5 but should be 2.0 (z = 812)\nand more";
  Json performance = Json::object(), correctness = Json::object();
  performance.set("below_target", true).set("of_floor", 0.871);
  correctness.set("passed", true).set("shapes_tested", Json::array().push("B=3 D=1"));
  correctness.set("device", "virtual GPU (sm_90)").set("max_z", 0.4926).set("certified", true);
  correctness.set("judge", record::kJudgeVersion);
  view.report = Json::object().set("performance", performance).set("correctness", correctness);
  view.events = {{0.5, "added", Json::object().set("id", "00000000000000a1")},
                 {12.34, "closed", {}}};
  return view;
}

TEST(RunsText, ListsMeasuredEstimatedAndDamaged) {
  expect_golden("list", runs_text({measured(), estimated(), broken()}, {}));
}

TEST(InspectText, ShowsResultCandidatesAndDamage) {
  expect_golden("inspect", inspect_text(view(), 3, false, {}));
}

TEST(InspectText, SaysThatAnOlderJudgeCertifiedIt) {
  workflows::RunView old = view();
  Json correctness = old.report["correctness"];
  old.report.set("correctness", correctness.set("judge", record::kJudgeVersion - 1));
  const std::string want =
      fmt::format(", certified by version {} of the judge, now {}: verify again\n",
                  record::kJudgeVersion - 1, record::kJudgeVersion);
  EXPECT_NE(inspect_text(old, 3, false, {}).find(want), std::string::npos);
}

TEST(InspectText, ShowsEventsAndHowToGoOn) {
  workflows::RunView interrupted = view();
  interrupted.run = estimated();
  interrupted.kernel_path.clear();
  interrupted.damage.clear();
  expect_golden("interrupted", inspect_text(interrupted, 20, true, {}));
}

TEST(InspectText, ShowsWhyARunFailed) {
  workflows::RunView failed;
  failed.run = measured();
  failed.run.status = "failed";
  failed.run.best_us = failed.run.estimate_us = failed.run.speedup = std::nullopt;
  failed.run.candidates = failed.run.judged = failed.run.passed = 0;
  failed.run.reason = "the front end does not know torch.fft.fft";
  failed.report = Json::object().set("failed_stage", "reference");
  expect_golden("failed", inspect_text(failed, 20, false, {}));
}

TEST(CandidateText, ShowsEverythingButTheNumbers) {
  workflows::CandidateView one;
  one.candidate = record::make_candidate("__global__ void k() {}\n", {{"VEC", 4}}, "builtin",
                                         "row program", {"00000000000000a1"});
  one.candidate.id = "00000000000000a2";
  one.candidate.when = 1.25;
  one.verdict = Json::object().set("verdict", "wrong").set("stage", "numerics");
  one.verdict.set("reason", "y[0] is NaN").set("repro", "kernelwright verify module.cu --seed 3");
  one.timing = Json::object().set("quick", Json::object().set("median_us", 12.5));
  one.compile_log = "warning: k\x1b[2J is empty";
  expect_golden("candidate", candidate_text(one, {}));
}

TEST(DiffText, ShowsSettingsResultsAndLines) {
  workflows::RunDiff diff;
  diff.before = measured();
  diff.after = estimated();
  diff.asked = {{"config.target", "\"sm_90\"", "\"sm_80\""}, {"env.gpu", "", "null"}};
  diff.came_out = {{"performance.occupancy", "0.5", ""}};
  diff.reference = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n";
  expect_golden("diff", diff_text(diff, {}));
  EXPECT_NE(diff_text(diff, {true}).find("\x1b["), std::string::npos);
  EXPECT_EQ(diff_text({}, {}), "the two runs have the same request and the same result\n");
}

TEST(GcText, SaysWhatWouldGoAndWhatCouldNot) {
  store::GcReport report;
  report.items = {{measured(), "41 days old", ""},
                  {estimated(), "over the budget", "it is in use"}};
  report.runs = 3, report.bytes = 5 << 20, report.freed = 1536000;
  expect_golden("gc", gc_text(report, true, {}) + gc_text(report, false, {}));
}

}  // namespace
}  // namespace kw::commands
