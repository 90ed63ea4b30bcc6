#include <gtest/gtest.h>

#include <filesystem>

#include "os/files.h"
#include "store/run.h"
#include "store/test_folder.h"

namespace kw::store {
namespace {

using ViewedRun = Run;  // gtest has its own Run

record::Candidate view_candidate(const std::string& text) {
  return record::make_candidate(text, {}, "llm", "codegen 1", {});
}

RunInputs view_inputs() {
  RunInputs inputs;
  inputs.name = "scale";
  inputs.reference = "def scale(x): return x\n";
  inputs.spec = inputs.config = inputs.env = Json::object();
  return inputs;
}

TEST(Views, ShowACandidateByLinksThatSurviveAMove) {
  const TestFolder root;
  const record::Candidate one = view_candidate("// one\n");
  {
    ViewedRun run = ViewedRun::create({"", root.path() + "/run"}, view_inputs()).value();
    ASSERT_TRUE(run.add(one));
    ASSERT_TRUE(run.write("stage2_codegen/attempt_01/llm_response.md", "Here.\n"));
    ASSERT_TRUE(run.show("stage2_codegen/attempt_01", one.id));
    ASSERT_TRUE(run.judged(one.id, Json::object().set("verdict", "passed")));
    ASSERT_TRUE(run.show("stage2_codegen/attempt_01", one.id)) << "again, with more to show";
    ASSERT_TRUE(run.finish(Json::object().set("passed", true), {"// shipped\n", "", "", ""}));
    ASSERT_TRUE(run.show("stage5_polish/final", "final"));
    EXPECT_EQ(run.damage(), std::vector<std::string>{});
  }
  std::filesystem::rename(root.path() + "/run", root.path() + "/moved");
  const std::string at = root.path() + "/moved/";
  EXPECT_EQ(*os::read_file(at + "stage2_codegen/attempt_01/kernel.cu"), "// one\n");
  EXPECT_EQ(*os::read_file(at + "stage2_codegen/attempt_01/llm_response.md"), "Here.\n");
  EXPECT_TRUE(std::filesystem::is_symlink(at + "stage2_codegen/attempt_01/result.json"));
  EXPECT_FALSE(os::exists(at + "stage2_codegen/attempt_01/timing.json")) << "nobody timed it";
  EXPECT_EQ(*os::read_file(at + "stage5_polish/final/kernel.cu"), "// shipped\n");
  EXPECT_TRUE(ViewedRun::open(root.path() + "/moved", Access::Write)) << "views are no damage";
}

TEST(Views, ShowTheLatestCandidate) {
  const TestFolder root;
  ViewedRun run = ViewedRun::create({"", root.path() + "/run"}, view_inputs()).value();
  for (const char* text : {"// one\n", "// two\n"}) {
    const record::Candidate one = view_candidate(text);
    ASSERT_TRUE(run.add(one));
    ASSERT_TRUE(run.show("stage3_correctness", one.id));
  }
  EXPECT_EQ(*os::read_file(run.folder() + "/stage3_correctness/kernel.cu"), "// two\n");
}

}  // namespace
}  // namespace kw::store
