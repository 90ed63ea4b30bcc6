#include "stages/model_branches.h"

#include <gtest/gtest.h>

#include "stages/scripted.h"

namespace kw::stages {
namespace {

struct AnswerCase {
  const char* name;
  std::string answer;
  size_t modules;
  const char* problem;  // part of the message
};
class ReadBranches : public testing::TestWithParam<AnswerCase> {};

const std::string kParentText = test::module_text("plain");
const std::string kDiff =
    "```diff\n--- parent\n+++ parent\n@@ -6,1 +6,1 @@\n-__global__ void k(const float* x, float* "
    "y, "
    "int n) { plain }\n+__global__ void k(const float* x, float* y, int n) { wide }\n```\n";

TEST_P(ReadBranches, TakesWhatCanBeUsed) {
  const AnswerCase& one = GetParam();
  std::string problem;
  EXPECT_EQ(read_branches(one.answer, kParentText, &problem).size(), one.modules) << problem;
  EXPECT_NE(problem.find(one.problem), std::string::npos) << problem;
}

INSTANTIATE_TEST_SUITE_P(
    All, ReadBranches,
    testing::Values(
        AnswerCase{"two_modules", test::fenced("wide") + test::fenced("wider"), 2, ""},
        AnswerCase{"the_same_twice", test::fenced("wide") + test::fenced("wide"), 1, ""},
        AnswerCase{"the_parent_itself", test::fenced("plain"), 0, "differs from the parent"},
        AnswerCase{"a_diff", kDiff, 1, ""},
        AnswerCase{"module_and_diff", test::fenced("wider") + kDiff, 2, ""},
        AnswerCase{"a_diff_of_another", "```diff\n--- deadbeef\n+++ x\n@@ -1 +1 @@\n-a\n+b\n```\n",
                   0, "deadbeef"},
        AnswerCase{"other_blocks", "```json\n{}\n```\n" + test::fenced("wide"), 1, ""},
        AnswerCase{"cut_off", "```cuda\n//! kernelwright 1\n", 0, "cut off"},
        AnswerCase{"prose", "I would use shared memory.", 0, "no kernel module"}),
    [](const auto& one) { return one.param.name; });

ModelPlan branch_plan() {
  ModelPlan plan;
  for (llm::ModelId& id : plan.models) id = {"scripted", "model"};
  plan.budgets = {1, 3, 3, 2, 1};
  return plan;
}

llm::Outcome says(const std::string& text) {
  llm::Reply reply;
  reply.text = text;
  return reply;
}

TEST(WriteBranches, AsksAgainWhenAnAnswerCannotBeUsed) {
  test::MemoryJournal journal;
  std::vector<std::string> heard;
  const Answer answer = [&](const llm::ModelId&, const llm::Request& request) {
    heard.push_back(request.messages.back().text);
    return says(heard.size() == 1 ? "Let me think." : test::fenced("wide") + test::fenced("wider"));
  };
  BranchesRequest request;
  request.branches = 2;
  request.parent = kParentText;
  request.methods = {"memory.vectorized_access"};
  request.guidance = {"load 16 bytes at once"};
  request.evidence = "dram_throughput_pct 91 %";
  request.failures = {"b1: wrong: y[3] is 0"};
  const auto outcome = write_branches(branch_plan(), {}, request, answer, journal);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->modules.size(), 2u);
  ASSERT_EQ(heard.size(), 2u);
  for (const char* part : {"memory.vectorized_access", "load 16 bytes at once", "91 %",
                           "b1: wrong: y[3] is 0", "{ plain }"})
    EXPECT_NE(heard[0].find(part), std::string::npos) << part;
  EXPECT_NE(heard[1].find("no kernel module"), std::string::npos) << heard[1];
  ASSERT_EQ(journal.attempts().size(), 2u);
  EXPECT_FALSE(journal.attempts()[0].succeeded);
  EXPECT_TRUE(journal.attempts()[1].succeeded);
  EXPECT_EQ(journal.files.begin()->first, "stage_optimize/iter_01_try_01/prompt_1.md");
}

TEST(WriteBranches, GivesUpWithTheLastProblem) {
  test::MemoryJournal journal;
  const Answer answer = [](const llm::ModelId&, const llm::Request&) { return says("No."); };
  BranchesRequest request;
  request.parent = kParentText;
  const auto outcome = write_branches(branch_plan(), {}, request, answer, journal);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->modules.empty());
  EXPECT_NE(outcome->problem.find("no kernel module"), std::string::npos);
  EXPECT_EQ(journal.attempts().size(), 2u);
}

}  // namespace
}  // namespace kw::stages
