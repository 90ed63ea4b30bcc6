#include "workflows/inspect.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "store/run.h"
#include "store/test_folder.h"

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
