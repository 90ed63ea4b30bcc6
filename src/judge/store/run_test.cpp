#include "store/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "core/text.h"
#include "os/files.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using StoredRun = Run;  // a test class has a member named Run

record::Candidate candidate(const std::string& text, int64_t threads = 128) {
  return record::make_candidate(text, {{"THREADS", threads}}, "builtin", "row program", {});
}

RunInputs run_inputs() {
  RunInputs in;
  in.name = "rms_norm";
  in.prompt = "a fast rms norm\n";
  in.reference = "def rms_norm(x): ...\n";
  in.spec = Json::object().set("inputs", 1);
  in.config = Json::object().set("proposer", "builtin").set("target", "sm_90");
  in.env = Json::object().set("gpu", nullptr);
  return in;
}

Json verdict(const char* name) { return Json::object().set("verdict", name); }

TEST(Run, KeepsEverythingItIsGiven) {
  const TestFolder root;
  std::string folder;
  const record::Candidate first = candidate("// one"), second = candidate("// one", 256);
  {
    StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
    folder = run.folder();
    EXPECT_TRUE(*run.add(first));
    EXPECT_TRUE(*run.add(second));
    EXPECT_FALSE(*run.add(first)) << "the same content is the same candidate";
    ASSERT_TRUE(run.compiled(first.id, "ptxas info: 32 registers"));
    ASSERT_TRUE(run.judged(first.id, verdict("passed")));
    ASSERT_TRUE(run.timed(first.id, Json::object().set("microseconds", 3.5)));
    ASSERT_TRUE(run.profiled(first.id, Json::object().set("occupancy", 0.5)));
    ASSERT_TRUE(run.judged(second.id, verdict("wrong")));
    ASSERT_TRUE(run.append("stage", Json::object().set("stage", "search")));
    ASSERT_TRUE(run.checkpoint(Json::object().set("next", 7)));
    ASSERT_TRUE(run.finish(Json::object().set("passed", true), {"// cu", "// ptx", "", "# it"}));
  }
  const StoredRun run = StoredRun::open(folder, Access::Read).value();
  EXPECT_EQ(run.inputs()->reference, run_inputs().reference);
  EXPECT_EQ(run.inputs()->prompt, run_inputs().prompt);
  EXPECT_EQ(run.inputs()->spec["inputs"].as_int(), 1);
  const std::vector<record::Candidate> all = run.candidates();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, first.id);
  EXPECT_EQ(all[1].tunes.at("THREADS"), 256);
  EXPECT_EQ(run.compile_log(first.id), "ptxas info: 32 registers");
  EXPECT_EQ(run.judgement(second.id)["verdict"].as_string(), "wrong");
  EXPECT_EQ(run.timing(first.id)["microseconds"].as_double(), 3.5);
  EXPECT_TRUE(run.timing(second.id).is_null());
  EXPECT_EQ(run.profile(first.id)["occupancy"].as_double(), 0.5);
  EXPECT_EQ(run.checkpoint()["next"].as_int(), 7);
  EXPECT_EQ(run.report()["storage"]["judged"].as_int(), 2);
  EXPECT_EQ(*os::read_file(folder + "/final/kernel.cu"), "// cu");
  EXPECT_FALSE(os::exists(folder + "/final/kernel.cubin"));
  std::string kinds;
  for (const record::Event& event : run.events()) kinds += event.kind + " ";
  EXPECT_EQ(kinds, "opened added added judged timed judged stage finished closed ");
  EXPECT_TRUE(run.damage().empty());
  EXPECT_EQ(run.crashes(), 0);
  EXPECT_EQ(run_status(folder), "passed");
}

TEST(Run, CountsSecondsOverAllSessions) {
  const TestFolder root;
  std::string folder;
  {
    StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
    folder = run.folder();
  }
  // A session of an older version.
  ASSERT_TRUE(os::real_disk().append(folder + "/events.jsonl",
                                     R"({"seconds":100,"kind":"opened","data":{}})"
                                     "\n"));
  const StoredRun run = StoredRun::open(folder, Access::Write).value();
  EXPECT_GE(run.seconds(), 100);
}

TEST(Run, OrdersCandidatesByWhenTheyCame) {
  const TestFolder root;
  StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
  std::vector<std::string> want;
  for (int i = 0; i < 20; ++i) {
    const record::Candidate one = candidate("// " + std::to_string(i));
    ASSERT_TRUE(run.add(one));
    want.push_back(one.id);
  }
  std::vector<std::string> got;
  for (const record::Candidate& one : run.candidates()) got.push_back(one.id);
  EXPECT_EQ(got, want);
}

TEST(Run, TakesWorkFromSeveralThreads) {
  const TestFolder root;
  StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&run, t] {
      for (int i = 0; i < 10; ++i) {  // half of them are the same in all threads
        const record::Candidate one = candidate(std::to_string(i % 2 == 0 ? i : 100 * t + i));
        EXPECT_TRUE(run.add(one));
        EXPECT_TRUE(run.judged(one.id, verdict("passed")));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(run.candidates().size(), 5u + 4 * 5);
  EXPECT_EQ(run.damage(), std::vector<std::string>{});
}

TEST(Run, ClosesWhatItHeldWhenItBecomesAnother) {
  const TestFolder root;
  StoredRun run = StoredRun::create({"", root.path() + "/a"}, run_inputs()).value();
  run = StoredRun::create({"", root.path() + "/b"}, run_inputs()).value();
  EXPECT_EQ(run_status(root.path() + "/a"), "interrupted");
  EXPECT_EQ(run_status(root.path() + "/b"), "running");
  const StoredRun first = StoredRun::open(root.path() + "/a", Access::Read).value();
  EXPECT_EQ(first.events().back().kind, "closed");
  EXPECT_EQ(first.crashes(), 0);
}

TEST(Run, AddsALaterTimingToTheFirst) {
  const TestFolder root;
  StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
  const record::Candidate one = candidate("// one");
  ASSERT_TRUE(run.add(one));
  for (const auto& [kind, us] : {std::pair("quick", 9), {"paired", 7}, {"paired", 8}}) {
    ASSERT_TRUE(run.timed(one.id, Json::object().set(kind, Json::object().set("median_us", us))));
    ASSERT_TRUE(run.profiled(one.id, Json::object().set(kind, us)));
  }
  EXPECT_EQ(run.timing(one.id).dump(), R"({"quick":{"median_us":9},"paired":{"median_us":8}})");
  EXPECT_EQ(run.profile(one.id).dump(), R"({"quick":9,"paired":8})");
}

TEST(Run, MayFinishAgain) {
  const TestFolder root;
  StoredRun run = StoredRun::create({root.path(), ""}, run_inputs()).value();
  ASSERT_TRUE(run.finish(Json::object().set("passed", false).set("interrupted", true),
                         {"old", "ptx", "cubin", "readme"}));
  ASSERT_TRUE(run.finish(Json::object().set("passed", true), {"new", "", "", ""}));
  EXPECT_EQ(*os::read_file(run.folder() + "/final/kernel.cu"), "new");
  EXPECT_FALSE(os::exists(run.folder() + "/final/kernel.ptx")) << "it belongs to another kernel";
  EXPECT_EQ(run.damage(), std::vector<std::string>{});
}

TEST(RunStatus, ComesFromTheReportAndTheLock) {
  const TestFolder root;
  const std::string folder = root.path() + "/run";
  std::optional<StoredRun> run = StoredRun::create({"", folder}, run_inputs()).value();
  EXPECT_EQ(run_status(folder), "running");
  run.reset();
  EXPECT_EQ(run_status(folder), "interrupted");
  const std::pair<Json, const char*> cases[] = {
      {Json::object().set("passed", true), "passed"},
      {Json::object().set("passed", false), "failed"},
      {Json::object().set("passed", false).set("interrupted", true), "interrupted"},
  };
  for (const auto& [report, want] : cases) {
    ASSERT_TRUE(StoredRun::open(folder, Access::Write)->finish(report, {}));
    EXPECT_EQ(run_status(folder), want);
  }
}

TEST(TwoOwners, TheSecondIsToldWhoTheFirstIs) {
  const TestFolder root;
  const std::string folder = root.path() + "/run";
  const StoredRun run = StoredRun::create({"", folder}, run_inputs()).value();
  const std::string me = "in use by process " + std::to_string(::getpid()) + " on ";
  for (const auto& again :
       {StoredRun::create({"", folder}, run_inputs()), StoredRun::open(folder, Access::Write)}) {
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().blame, Blame::Input);
    EXPECT_NE(again.error().message.find(me), std::string::npos) << again.error().message;
  }
  EXPECT_TRUE(StoredRun::open(folder, Access::Read)) << "looking is always allowed";
}

struct Taken {
  const char* name;
  const char* file;  // exists in the folder first
  const char* want;
};

class CreateIn : public testing::TestWithParam<Taken> {};

TEST_P(CreateIn, AFolderThatIsTaken) {
  const TestFolder root;
  ASSERT_TRUE(os::write_file(root.path() + "/" + GetParam().file, "x"));
  const Result<StoredRun> run = StoredRun::create({"", root.path()}, run_inputs());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().blame, Blame::Input);
  EXPECT_NE(run.error().message.find(GetParam().want), std::string::npos) << run.error().message;
  EXPECT_EQ(*os::read_file(root.path() + "/" + GetParam().file), "x");
}

INSTANTIATE_TEST_SUITE_P(Files, CreateIn,
                         testing::Values(Taken{"notes", "notes.txt", "is not empty"},
                                         Taken{"run", "run.json", "holds a run already"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Create, RefusesAFileForAFolder) {
  const TestFolder root;
  ASSERT_TRUE(os::write_file(root.path() + "/file", "x"));
  for (const Where& where : {Where{"", root.path() + "/file"}, Where{root.path() + "/file", ""}}) {
    const Result<StoredRun> run = StoredRun::create(where, run_inputs());
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().blame, Blame::Input) << run.error().message;
  }
}

/// A run with one judged candidate, closed.
std::string small_run(const TestFolder& root) {
  StoredRun run = StoredRun::create({"", root.path() + "/run"}, run_inputs()).value();
  const record::Candidate one = candidate("// one");
  EXPECT_TRUE(run.add(one));
  EXPECT_TRUE(run.judged(one.id, verdict("passed")));
  EXPECT_TRUE(run.timed(one.id, Json::object().set("us", 2.5)));
  EXPECT_TRUE(run.checkpoint(Json::object().set("phase", "done")));
  EXPECT_TRUE(run.finish(Json::object().set("passed", true), {"cu", "", "", ""}));
  return run.folder();
}

struct Damage {
  const char* name;
  const char* file;     // *: the candidate's folder
  const char* content;  // nullptr: removed
  const char* refused;  // the Error of opening for writing; nullptr: it opens
  const char* listed;   // the line of damage(); nullptr: no line
};

class DamagedFolder : public testing::TestWithParam<Damage> {};

TEST_P(DamagedFolder, IsRefusedOrReported) {
  const Damage& bad = GetParam();
  const TestFolder root;
  const std::string folder = small_run(root);
  const std::string path = os::glob(folder + "/" + bad.file).at(0);
  ASSERT_TRUE(bad.content == nullptr ? os::remove_file(path) : os::write_file(path, bad.content));
  const Result<StoredRun> run = StoredRun::open(folder, Access::Write);
  if (bad.refused != nullptr) {
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().blame, Blame::Input);
    EXPECT_NE(run.error().message.find(bad.refused), std::string::npos) << run.error().message;
    return;
  }
  ASSERT_TRUE(run) << run.error().message;
  const std::string found = join(run->damage(), "\n");
  EXPECT_NE(found.find(bad.listed == nullptr ? "" : bad.listed), std::string::npos) << found;
  EXPECT_EQ(found.empty(), bad.listed == nullptr) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedFolder,
    testing::Values(
        Damage{"no_manifest", "run.json", nullptr, "is not a run folder", nullptr},
        Damage{"manifest_is_not_json", "run.json", "{", "is damaged", nullptr},
        Damage{"manifest_of_something_else", "run.json", "{\"version\": 1}", "is damaged", nullptr},
        Damage{"manifest_is_empty", "run.json", "", "is damaged", nullptr},
        Damage{"newer_version", "run.json", "{\"format\": \"kernelwright run\", \"version\": 2}",
               "version 2; this program reads version 1", nullptr},
        Damage{"reference_changed", "inputs/reference.py", "def g(): ...", "was changed", nullptr},
        Damage{"reference_gone", "inputs/reference.py", nullptr, "reference.py", nullptr},
        Damage{"module_changed", "candidates/*/module.cu", "// two", nullptr,
               "differs from the computed id"},
        Damage{"module_gone", "candidates/*/module.cu", nullptr, nullptr, "module.cu"},
        Damage{"lineage_gone", "candidates/*/lineage.json", nullptr, nullptr, "candidates/"},
        Damage{"lineage_is_not_json", "candidates/*/lineage.json", "[", nullptr, "candidates/"},
        Damage{"verdict_is_not_json", "candidates/*/verdict.json", "\x01", nullptr, "verdict.json"},
        Damage{"events_are_not_events", "events.jsonl", "hello\n{}\n", nullptr, "line 2"},
        Damage{"verdict_changed", "candidates/*/verdict.json", "{}", nullptr, "was changed"},
        Damage{"verdict_gone", "candidates/*/verdict.json", nullptr, nullptr, "is missing"},
        Damage{"timing_changed", "candidates/*/timing.json", "{}", nullptr, "was changed"},
        Damage{"timing_gone", "candidates/*/timing.json", nullptr, nullptr, "is missing"},
        Damage{"events_are_torn", "events.jsonl", "{\"seconds\": 1, \"ki", nullptr, "was missing"},
        Damage{"events_are_gone", "events.jsonl", nullptr, nullptr, "events.jsonl was missing"},
        Damage{"report_is_gone", "report.json", nullptr, nullptr, "report.json is missing"},
        Damage{"checkpoint_is_gone", "checkpoint.json", nullptr, nullptr, "checkpoint.json is"},
        Damage{"report_is_not_json", "report.json", "passed", nullptr, "report.json"},
        Damage{"kernel_changed", "final/kernel.cu", "other", nullptr, "final/kernel.cu"},
        Damage{"kernel_gone", "final/kernel.cu", nullptr, nullptr, "final/kernel.cu"}),
    [](const auto& test) { return std::string(test.param.name); });

// An edited result is neither shown nor used, whoever opens the run.
TEST(EditedResult, IsNotReturned) {
  for (const char* name : {"verdict.json", "timing.json"}) {
    for (const Access access : {Access::Read, Access::Write}) {
      const TestFolder root;
      const std::string folder = small_run(root);
      const std::string path = os::glob(folder + "/candidates/*/" + name).at(0);
      const std::string text = *os::read_file(path);
      ASSERT_TRUE(os::write_file(path, text + " "));
      StoredRun run = StoredRun::open(folder, access).value();
      const std::string id = run.candidates().at(0).id;
      EXPECT_TRUE(run.is_altered(id)) << name;
      EXPECT_TRUE(run.judgement(id).is_null()) << name;
      EXPECT_TRUE(run.timing(id).is_null()) << name;
      if (access == Access::Read) continue;
      ASSERT_TRUE(run.judged(id, verdict("passed")));
      ASSERT_TRUE(run.timed(id, Json::object().set("us", 3.5)));
      EXPECT_FALSE(run.is_altered(id)) << "it was judged again";
      EXPECT_EQ(run.damage(), std::vector<std::string>{});
    }
  }
}

// Runs of older versions recorded the verdict's word, but no hash.
TEST(EditedResult, OfAnOlderVersionIsKnownByItsWord) {
  const TestFolder root;
  const std::string folder = small_run(root);
  const std::string id = StoredRun::open(folder, Access::Read).value().candidates().at(0).id;
  const std::string events = *os::read_file(folder + "/events.jsonl");
  std::string kept;
  for (const std::string& line : split(events, '\n')) {
    const bool judged = line.find("\"judged\"") != std::string::npos;
    if (!judged && !line.empty())
      kept +=
          replace_all(line.substr(0, line.find(",\"chain\":")) + "}", "\"key\":", "\"no\":") + "\n";
  }
  ASSERT_TRUE(os::remove_file(folder + "/signature.json"));
  kept += R"({"seconds":1.0,"kind":"judged","data":{"id":")" + id + R"(","verdict":"passed"}})";
  ASSERT_TRUE(os::write_file(folder + "/events.jsonl", kept + "\n"));
  EXPECT_EQ(StoredRun::open(folder, Access::Read)->damage(), std::vector<std::string>{});
  ASSERT_TRUE(os::write_file(os::glob(folder + "/candidates/*/verdict.json").at(0),
                             "{\"verdict\": \"qassed\"}"));
  const StoredRun run = StoredRun::open(folder, Access::Read).value();
  EXPECT_TRUE(run.judgement(id).is_null());
  EXPECT_NE(join(run.damage(), "\n").find("the run recorded 'passed'"), std::string::npos);
}

TEST(LostCandidate, IsNamed) {
  const TestFolder root;
  const std::string folder = small_run(root);
  const std::string path = os::glob(folder + "/candidates/*").at(0);
  std::filesystem::remove_all(path);
  const StoredRun run = StoredRun::open(folder, Access::Read).value();
  EXPECT_EQ(run.damage(), std::vector<std::string>{path.substr(folder.size() + 1) + " is missing"});
}

TEST(Create, PutsNoRunIntoARun) {
  const TestFolder root;
  const Result<StoredRun> run = StoredRun::create({small_run(root), ""}, run_inputs());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().blame, Blame::Input);
  EXPECT_NE(run.error().message.find("is itself a run"), std::string::npos);
}

// A verdict belongs to the content, whose hash is the id. If the text is lost, adding it again
// restores everything.
TEST(DamagedCandidate, IsWholeAgainWhenItIsAddedAgain) {
  const TestFolder root;
  const std::string folder = small_run(root);
  ASSERT_TRUE(os::remove_file(os::glob(folder + "/candidates/*/lineage.json").at(0)));
  StoredRun run = StoredRun::open(folder, Access::Write).value();
  const record::Candidate one = candidate("// one");
  EXPECT_TRUE(run.candidates().empty());
  EXPECT_TRUE(*run.add(one));
  EXPECT_EQ(run.judgement(one.id)["verdict"].as_string(), "passed");
  EXPECT_EQ(run.damage(), std::vector<std::string>{});
}

TEST(Reading, NeverLeavesTheFolder) {
  const TestFolder root;
  const StoredRun run = StoredRun::open(small_run(root), Access::Read).value();
  EXPECT_FALSE(run.candidate("../../../etc"));
  EXPECT_TRUE(run.judgement("..").is_null());
  EXPECT_EQ(run.compile_log("/etc/passwd"), "");
}

}  // namespace
}  // namespace kw::store
