#include "workflows/inspect.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "store/run.h"
#include "store/summary.h"
#include "store/test_folder.h"
#include "workflows/kept_view.h"

namespace kw::workflows {
namespace {

record::Candidate nth(int number) {
  return record::make_candidate("// " + std::to_string(number), {{"VEC", number}}, "builtin",
                                "design " + std::to_string(number), {});
}

/// Five candidates: wrong, estimated, measured, faster, not judged.
std::string make_run(const std::string& root, const std::string& target,
                     const std::string& kernel) {
  store::RunInputs inputs;
  inputs.name = "norm";
  inputs.prompt = "fast";
  inputs.reference = "def f(x): return x\n";
  inputs.config = Json::object().set("target", target);
  store::Run run = store::Run::create({root, ""}, inputs).value();
  for (int i = 0; i < 5; ++i) {
    const record::Candidate one = nth(i);
    EXPECT_TRUE(run.add(one));
    const Json verdict = Json::object().set("verdict", i == 0 ? "wrong" : "passed");
    EXPECT_TRUE(i == 4 || run.judged(one.id, verdict)) << i;
    const Json estimate = Json::object().set("estimate", Json::object().set("us", 10 - i));
    EXPECT_TRUE(run.profiled(one.id, estimate));
    if (i != 2 && i != 3) continue;
    const Json median = Json::object().set("median_us", 20 - i);
    EXPECT_TRUE(run.timed(one.id, Json::object().set("quick", median)));
  }
  Json report = Json::object();
  report.set("passed", true).set("wall_time_seconds", static_cast<int64_t>(kernel.size()));
  report.set("performance", Json::object().set("occupancy", kernel.size() > 5 ? 0.5 : 0.25));
  EXPECT_TRUE(run.finish(report, {kernel, "", "", ""}));
  return run.folder();
}

TEST(InspectRun, PutsTheBestCandidatesFirst) {
  const store::TestFolder root;
  const std::string folder = make_run(root.path(), "sm_90", "kernel");
  const RunView view = inspect_run(root.path(), "latest").value();
  std::string order;
  for (const store::CandidateRow& row : view.candidates) order += row.origin.back();
  EXPECT_EQ(order, "32140");
  EXPECT_EQ(view.run.status, "passed");
  EXPECT_EQ(view.run.best_us, 17.0);
  EXPECT_EQ(view.run.estimate_us, 7.0);
  EXPECT_EQ(view.prompt, "fast");
  EXPECT_EQ(view.kernel_path, folder + "/final/kernel.cu");
  EXPECT_EQ(view.sessions, 1);
  EXPECT_TRUE(view.damage.empty());
  const Json json = to_json(view);
  EXPECT_EQ(json["candidates"].items().size(), 5u);
  EXPECT_TRUE(json["candidates"].items()[3]["verdict"].is_null());
  EXPECT_TRUE(json["report"]["passed"].as_bool());
}

TEST(InspectRun, NamesWhatIsDamagedAndFailsOnlyWithoutARun) {
  const store::TestFolder root;
  const std::string folder = make_run(root.path(), "sm_90", "kernel");
  ASSERT_TRUE(os::write_file(folder + "/final/kernel.cu", "changed"));
  EXPECT_EQ(inspect_run(root.path(), folder)->damage.size(), 1u);
  ASSERT_TRUE(os::write_file(folder + "/run.json", "changed"));
  const Result<RunView> none = inspect_run(root.path(), folder);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::Input);
}

TEST(KeptView, HoldsUntilSomethingDiffers) {
  const store::TestFolder root;
  const std::string folder = make_run(root.path(), "sm_90", "kernel");
  RunView view = inspect_run(root.path(), folder).value();
  keep_view(view, store::change_mark(folder));
  EXPECT_FALSE(kept_view(folder, 20)) << "a small run is read";
  view.run.candidates = kManyCandidates;
  keep_view(view, store::change_mark(folder));
  const auto kept = kept_view(folder, 20);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->candidates.size(), 5u);
  EXPECT_EQ(kept->candidates[0].microseconds, 17.0);
  EXPECT_EQ(kept->stopped, view.stopped);
  EXPECT_TRUE(kept->report["passed"].as_bool());
  EXPECT_FALSE(kept_view(folder, kKeptCandidates + 1)) << "it has no more";
  for (const std::string& name :
       {"candidates/" + nth(3).id + "/verdict.json", "candidates/" + nth(3).id + "/timing.json",
        std::string("report.json")}) {
    const std::string text = *os::read_file(folder + "/" + name);
    ASSERT_TRUE(os::write_file(folder + "/" + name, text + " "));
    EXPECT_FALSE(kept_view(folder, 20)) << name;
    ASSERT_TRUE(os::write_file(folder + "/" + name, text));
    // The report's time is part of the mark.
    keep_view(view, store::change_mark(folder));
    EXPECT_TRUE(kept_view(folder, 20)) << name;
  }
  const std::string mark = store::change_mark(folder);
  store::keep_note(folder, mark, "{}");
  EXPECT_FALSE(kept_view(folder, 20)) << "not of this folder";
  keep_view(view, mark);
  { const auto run = store::Run::open(folder, store::Access::Write); }
  EXPECT_FALSE(kept_view(folder, 20)) << "the run has changed";
}

TEST(InspectCandidate, ByTheBeginningOfItsId) {
  const store::TestFolder root;
  make_run(root.path(), "sm_90", "kernel");
  const std::string id = nth(2).id;
  const CandidateView view = inspect_candidate(root.path(), "latest", id.substr(0, 12)).value();
  EXPECT_EQ(view.candidate.text, "// 2");
  EXPECT_EQ(view.timing["quick"]["median_us"].as_int(), 18);
  EXPECT_EQ(to_json(view)["text"].as_string(), "// 2");
  for (const char* wrong : {"", "zz", "../x"}) {
    const Result<CandidateView> none = inspect_candidate(root.path(), "latest", wrong);
    ASSERT_FALSE(none) << wrong;
    EXPECT_EQ(none.error().blame, Blame::Input);
  }
}

TEST(DiffRuns, ComparesWhatWasAskedAndWhatCameOut) {
  const store::TestFolder root;
  const std::string a = make_run(root.path(), "sm_90", "kernel\n");
  const std::string b = make_run(root.path(), "sm_80", "k\n");
  const RunDiff diff = diff_runs(root.path(), a, b).value();
  ASSERT_EQ(diff.asked.size(), 1u);
  EXPECT_EQ(diff.asked[0].what, "config.target");
  EXPECT_EQ(diff.asked[0].before, "\"sm_90\"");
  EXPECT_EQ(diff.asked[0].after, "\"sm_80\"");
  ASSERT_EQ(diff.came_out.size(), 1u) << "wall times always differ and are left out";
  EXPECT_EQ(diff.came_out[0].what, "performance.occupancy");
  EXPECT_EQ(diff.reference, "");
  EXPECT_NE(diff.kernel.find("-kernel\n+k\n"), std::string::npos) << diff.kernel;
  EXPECT_FALSE(diff.same());
  EXPECT_TRUE(diff_runs(root.path(), a, a)->same());
  EXPECT_FALSE(diff_runs(root.path(), a, "none"));
}

}  // namespace
}  // namespace kw::workflows
