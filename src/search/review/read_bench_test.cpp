#include "review/read_bench.h"

#include <gtest/gtest.h>

#include <utility>

namespace kw::review {
namespace {

/// Judges everything to be right, and counts.
class CountingBench : public stages::Workbench {
 public:
  int verified = 0;
  Result<stages::Look> compile(const record::Candidate&) override { return right(); }
  Result<stages::Look> run(const record::Candidate&) override { return right(); }
  Result<stages::Look> verify(const record::Candidate&) override {
    ++verified;
    return right();
  }
  Result<stages::Look> time(const record::Candidate&) override { return right(); }
  std::string hints(const record::Candidate&) override { return "hints"; }

 private:
  static stages::Look right() {
    stages::Look look;
    look.ok = true;
    return look;
  }
};

/// Reads in its own time, as readers do; sure of whatever has "wrong" in it.
class FixedReaders : public evolve::Verifier {
 public:
  int asked = 0;
  std::string name() const override { return "fixed"; }
  Result<evolve::Vote> vote(const record::Candidate& candidate) override {
    ++asked;
    evolve::Reading reading;
    reading.id = candidate.id;
    reading.score = 0.25;
    const bool wrong = candidate.text.find("wrong") != std::string::npos;
    if (wrong) reading.refused = "all readers are sure that it is wrong";
    if (wrong) reading.detail = "line 3: the tail is left out";
    waiting_.push_back(reading);
    evolve::Vote vote;
    vote.reading = true;
    return vote;
  }
  Result<std::vector<evolve::Reading>> opinions() override { return std::exchange(waiting_, {}); }

 private:
  std::vector<evolve::Reading> waiting_;
};

record::Candidate module_by(const std::string& model, const std::string& text) {
  record::Candidate made = record::make_candidate(text, {}, model.empty() ? "builtin" : "llm", "x");
  made.model = model;
  return made;
}

TEST(ReadBench, WhatReadersAreSureOfIsNotJudged) {
  CountingBench bench;
  FixedReaders readers;
  ReadBench reading(bench, readers);
  const auto look = reading.verify(module_by("lab:x", "// wrong\n"));
  ASSERT_TRUE(look);
  EXPECT_FALSE(look->ok);
  EXPECT_EQ(look->reason, "all readers are sure that it is wrong");
  EXPECT_NE(look->text.find("the tail is left out"), std::string::npos);
  EXPECT_EQ(bench.verified, 0);
}

TEST(ReadBench, TheJudgeHasTheLastWordOnTheRest) {
  CountingBench bench;
  FixedReaders readers;
  ReadBench reading(bench, readers);
  const record::Candidate fine = module_by("lab:x", "// fine\n");
  ASSERT_TRUE(reading.verify(fine));
  EXPECT_EQ(bench.verified, 1) << "no opinion stands for a judgement";
  EXPECT_EQ(reading.score(fine.id), 0.25);
  ASSERT_TRUE(reading.verify(fine));
  EXPECT_EQ(readers.asked, 1) << "nobody reads the same twice";
  const record::Candidate generated = module_by("", "// wrong\n");
  ASSERT_TRUE(reading.verify(generated));
  EXPECT_EQ(readers.asked, 1) << "generated modules are not read";
  EXPECT_EQ(reading.score(generated.id), 1);
}

}  // namespace
}  // namespace kw::review
