#include "store/run.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "os/files.h"
#include "os/process.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using StoredRun = Run;  // a test has a member of that name

record::Candidate candidate(const std::string& text, int64_t threads = 128) {
  return record::make_candidate(text, {{"THREADS", threads}}, "builtin", "row program", {});
}

RunInputs inputs() {
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
    StoredRun run = StoredRun::create({root.path(), ""}, inputs()).value();
    folder = run.folder();
    EXPECT_TRUE(*run.add(first));
    EXPECT_TRUE(*run.add(second));
    EXPECT_FALSE(*run.add(first)) << "the same content is the same candidate";
    ASSERT_TRUE(run.compiled(first.id, "ptxas info: 32 registers"));
    ASSERT_TRUE(run.judged(first.id, verdict("passed")));
    ASSERT_TRUE(run.timed(first.id, Json::object().set("microseconds", 3.5)));
    ASSERT_TRUE(run.profiled(first.id, Json::object().set("occupancy", 0.5)));
    ASSERT_TRUE(run.judged(second.id, verdict("wrong")));
    ASSERT_TRUE(run.event("stage", Json::object().set("stage", "search")));
    ASSERT_TRUE(run.checkpoint(Json::object().set("next", 7)));
    ASSERT_TRUE(run.finish(Json::object().set("passed", true), {"// cu", "// ptx", "", "# it"}));
  }
  const StoredRun run = StoredRun::open(folder, Access::Read).value();
  EXPECT_EQ(run.inputs()->reference, inputs().reference);
  EXPECT_EQ(run.inputs()->prompt, inputs().prompt);
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

}  // namespace
}  // namespace kw::store
