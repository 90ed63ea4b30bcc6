#include "review/reviewed_judge.h"

#include <gtest/gtest.h>

#include <utility>

#include "ports/fakes.h"

namespace kw::review {
namespace {

class CountingJudge : public ports::FakeJudge {
 public:
  int verified = 0;
  Result<ports::Outcome> examined(const record::Candidate&, ports::Depth depth) override {
    verified += depth == ports::Depth::Verify;
    return ports::Outcome();
  }
};

/// Answers later, as reviewers do; refuses every text with "wrong" in it.
class FixedReviewers : public evolve::Verifier {
 public:
  int asked = 0;
  std::string name() const override { return "fixed"; }
  Result<evolve::Vote> vote(const record::Candidate& candidate) override {
    ++asked;
    evolve::Review reading;
    reading.id = candidate.id;
    reading.score = 0.25;
    const bool wrong = candidate.text.find("wrong") != std::string::npos;
    if (wrong) reading.refused = "all reviewers are sure that it is wrong";
    if (wrong) reading.detail = "line 3: the tail is left out";
    waiting_.push_back(reading);
    evolve::Vote vote;
    vote.reading = true;
    return vote;
  }
  Result<std::vector<evolve::Review>> opinions() override { return std::exchange(waiting_, {}); }

 private:
  std::vector<evolve::Review> waiting_;
};

record::Candidate module_by(const std::string& model, const std::string& text) {
  record::Candidate made = record::make_candidate(text, {}, model.empty() ? "builtin" : "llm", "x");
  made.model = model;
  return made;
}

TEST(ReviewedJudge, WhatReadersAreSureOfIsNotJudged) {
  CountingJudge judge;
  FixedReviewers reviewers;
  ReviewedJudge reading(judge, reviewers);
  const auto look = reading.examine_one(module_by("lab:x", "// wrong\n"), ports::Depth::Verify);
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->passed());
  EXPECT_EQ(look->refused, "all reviewers are sure that it is wrong");
  EXPECT_NE(look->detail.find("the tail is left out"), std::string::npos);
  EXPECT_EQ(judge.verified, 0);
}

TEST(ReviewedJudge, TheJudgeHasTheLastWordOnTheRest) {
  CountingJudge judge;
  FixedReviewers reviewers;
  ReviewedJudge reading(judge, reviewers);
  const record::Candidate fine = module_by("lab:x", "// fine\n");
  ASSERT_TRUE(reading.examine_one(fine, ports::Depth::Verify));
  EXPECT_EQ(judge.verified, 1) << "no opinion stands for a judgement";
  EXPECT_EQ(reading.score(fine.id), 0.25);
  ASSERT_TRUE(reading.examine_one(fine, ports::Depth::Verify));
  EXPECT_EQ(reviewers.asked, 1) << "no module is read twice";
  const record::Candidate generated = module_by("", "// wrong\n");
  ASSERT_TRUE(reading.examine_one(generated, ports::Depth::Verify));
  EXPECT_EQ(reviewers.asked, 1) << "generated modules are not read";
  EXPECT_EQ(reading.score(generated.id), 1);
}

}  // namespace
}  // namespace kw::review
