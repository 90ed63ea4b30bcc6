// The parts of an evolution, one by one: archive, novelty, bandit, ensemble, edits, operators.
#include <gtest/gtest.h>

#include "evolve/bandit.h"
#include "evolve/edit.h"
#include "evolve/ensemble.h"
#include "evolve/fakes.h"
#include "evolve/mutator.h"
#include "evolve/novelty.h"
#include "evolve/population.h"

namespace kw::evolve {
namespace {

const char* const kPtx = R"(.visible .entry k(.param .u64 p) {
  ld.param.u64 %rd1, [p];   // a comment
  mov.u32 %r1, %tid.x;
  setp.ge.s32 %p1, %r1, 100;
  @%p1 bra $L__BB0_2;
  ld.global.f32 %f1, [%rd1+4];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd1], %f2;
$L__BB0_2:
  ret;
})";

TEST(Novelty, NamesAndNumbersDoNotCount) {
  std::string renamed = kPtx;
  for (const auto& [from, to] :
       {std::pair("%r1", "%r9"), {"$L__BB0_2", "$L__BB7_11"}, {"100", "96"}})
    renamed = replace_all(renamed, from, to);
  EXPECT_EQ(normalised_ptx(kPtx), normalised_ptx(renamed));
  EXPECT_EQ(distance(*fingerprint_of(kPtx), *fingerprint_of(renamed)), 0);
  EXPECT_FALSE(*fingerprint_of(kPtx) == *fingerprint_of(renamed));
}

TEST(Novelty, OtherInstructionsDo) {
  const std::string other =
      replace_all(replace_all(kPtx, "add.f32", "mul.f32"), "ld.global", "ld.shared");
  EXPECT_GT(distance(*fingerprint_of(kPtx), *fingerprint_of(other)), 0.3);
  EXPECT_NE(normalised_ptx(kPtx).find("%tid.x"), std::string::npos);
}

TEST(Novelty, PrintsComeBackFromText) {
  const CodeFingerprint fingerprint = *fingerprint_of(kPtx);
  EXPECT_EQ(fingerprint_from_hex(to_hex(fingerprint)), fingerprint);
  EXPECT_FALSE(fingerprint_from_hex(to_hex(fingerprint).substr(1)));
  EXPECT_FALSE(fingerprint_from_hex(""));
  EXPECT_FALSE(fingerprint_of("no instruction"));
}

ports::Outcome seen_at(double us, const std::string& bound = "memory", double occupancy = 1) {
  ports::Outcome seen;
  seen.us = us;
  seen.bound = bound;
  seen.occupancy = occupancy;
  return seen;
}

record::Candidate named(const std::string& origin, int64_t value, const std::string& model = "") {
  record::Candidate one =
      record::make_candidate("text of " + origin, {{"A", value}}, "builtin", origin);
  one.model = model;
  return one;
}

class ArchiveTest : public ::testing::Test {
 protected:
  std::string put(const record::Candidate& one, const ports::Outcome& seen,
                  std::optional<CodeFingerprint> fingerprint = {}, int island = 0) {
    ProposalRequest request;
    request.island = island;
    archive.add(one, request);
    archive.add_screening(one.id, seen, 1, fingerprint);
    return one.id;
  }
  Population archive;
};

TEST_F(ArchiveTest, NichesKeepTheirBest) {
  put(named("k=rows", 1), seen_at(10));
  const std::string rows = put(named("k=rows", 2), seen_at(9));
  const std::string tiles = put(named("k=tiles", 1), seen_at(30, "compute"));
  put(named("k=tiles", 2), seen_at(31, "compute"));
  const std::string heavy = put(named("k=tiles", 3), seen_at(40, "compute", 0.2));
  std::vector<std::string> ids;
  for (const Entry* entry : archive.elites()) ids.push_back(entry->candidate.id);
  EXPECT_EQ(ids, (std::vector{rows, tiles, heavy}));
  EXPECT_EQ(archive.best()->candidate.id, rows);
  EXPECT_EQ(archive.find(heavy)->niche.text(), "compute/tiles/heavy");
}

TEST_F(ArchiveTest, ParentsAreTheBestAndOthers) {
  const std::string best = put(named("k=rows", 1), seen_at(9));
  const std::string other = put(named("k=tiles", 1), seen_at(30));
  Random random(7);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 200; ++i) ++drawn[archive.parent(random)->candidate.id];
  EXPECT_GT(drawn[best], 100);
  EXPECT_GT(drawn[other], 20);
  EXPECT_EQ(archive.partner(*archive.find(best))->candidate.id, other);
}

TEST_F(ArchiveTest, TheSameCodeIsInTheRaceOnce) {
  const std::string first = put(named("k=rows", 1), seen_at(9), fingerprint_of(kPtx));
  const std::string again = put(named("k=rows", 2), seen_at(9), fingerprint_of(kPtx));
  EXPECT_EQ(archive.find(again)->same_as, first);
  EXPECT_EQ(archive.find(again)->novelty, 0);
  EXPECT_EQ(archive.ranked().size(), 1u);
}

TEST_F(ArchiveTest, WhatAModelWroteCountsOnceItWasJudged) {
  const std::string id = put(named("words", 1, "a:b"), seen_at(1));
  put(named("k=rows", 1), seen_at(9));
  EXPECT_NE(archive.best()->candidate.id, id);
  archive.judged(id, seen_at(2));
  EXPECT_EQ(archive.best()->candidate.id, id);
  EXPECT_EQ(archive.best()->outcome.us, 2);
}

TEST_F(ArchiveTest, MeasuredTimesStandBeforeEstimates) {
  put(named("k=rows", 1), seen_at(1));
  const std::string slow = put(named("k=rows", 2), seen_at(5));
  ports::Outcome measured = seen_at(7);
  measured.measured = true;
  archive.judged(slow, measured);
  EXPECT_EQ(archive.best()->candidate.id, slow);
}

TEST_F(ArchiveTest, OfEquallyFastOnesThePlainerShips) {
  ports::Outcome many = seen_at(10);
  many.methods = 4;
  put(named("k=rows", 1), many);
  ports::Outcome few = seen_at(10.01);
  few.methods = 1;
  const std::string plain = put(named("k=rows", 2), few);
  ports::Outcome slower = seen_at(10.5);
  put(named("k=rows", 3), slower);
  EXPECT_EQ(archive.simplest_best()->candidate.id, plain);
}

TEST_F(ArchiveTest, IslandsMeetOnlyByMigration) {
  const std::string west = put(named("k=rows", 1), seen_at(10), {}, 0);
  const std::string east = put(named("k=rows", 2), seen_at(20), {}, 1);
  EXPECT_EQ(archive.best(1)->candidate.id, east);
  archive.migrate(2);
  EXPECT_EQ(archive.best(1)->candidate.id, west);
}

TEST_F(ArchiveTest, RepairsTakeWhatCameFurthest) {
  ports::Outcome broken;
  broken.refused = "rejected (compile): no";
  put(named("a", 1, "m"), broken);
  broken.refused = "wrong: by 3";
  const std::string wrong = put(named("b", 1, "m"), broken);
  broken.refused = "rejected (static): no";
  put(named("c", 1, "m"), broken);
  EXPECT_EQ(archive.to_repair(2)->candidate.id, wrong);
  archive.find(wrong)->repairs = 2;
  EXPECT_NE(archive.to_repair(2)->candidate.id, wrong);
  EXPECT_EQ(archive.to_repair(0), nullptr);
}

TEST_F(ArchiveTest, ContextIsTopAndDiverse) {
  std::string other = replace_all(kPtx, "add.f32", "mul.f32");
  other = replace_all(other, "mov.u32", "cvt.u32");
  const std::string one = put(named("k=rows", 1), seen_at(1), fingerprint_of(kPtx));
  put(named("k=rows", 2), seen_at(2), fingerprint_of(replace_all(kPtx, "100", "96")));
  const std::string far = put(named("k=rows", 3), seen_at(3), fingerprint_of(other));
  const auto shown = archive.top_and_diverse(2);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0]->candidate.id, one);
  EXPECT_EQ(shown[1]->candidate.id, far);
}

TEST(Bandit, AsksEverybodyOnceThenWhoPays) {
  Bandit bandit;
  bandit.set_arms({"dear", "cheap"});
  EXPECT_EQ(bandit.choose(0), "dear");
  bandit.begin("dear");
  EXPECT_EQ(bandit.choose(1), "cheap");
  bandit.begin("cheap");
  std::map<std::string, int> asked;
  bandit.answered("dear", true, 0.1);
  bandit.answered("cheap", true, 0.01);
  for (int64_t now = 2; now < 60; ++now) {
    const std::string arm = *bandit.choose(now);
    ++asked[arm];
    bandit.begin(arm);
    bandit.answered(arm, true, arm == "dear" ? 0.1 : 0.01);
    bandit.reward(arm, 0.05);  // the same gain for both
  }
  EXPECT_GT(asked["cheap"], 2 * asked["dear"]);
  EXPECT_GT(asked["dear"], 0);
}

TEST(Bandit, FailuresBackOffAndEnd) {
  Bandit bandit;
  bandit.set_arms({"a", "b"});
  bandit.begin("a");
  bandit.failed("a", ModelFailure::Passing, "overloaded", 0, 0.0);
  EXPECT_EQ(bandit.choose(1), "b");
  bandit.begin("b");
  bandit.failed("b", ModelFailure::Lasting, "no key", 1, 0.0);
  EXPECT_EQ(bandit.choose(2), "a") << "it waits, but nobody else is there";
  bandit.failed("a", ModelFailure::Passing, "overloaded", 2, 0.0);
  EXPECT_FALSE(bandit.all_gone());
  bandit.failed("a", ModelFailure::Passing, "overloaded", 3, 0.0);
  EXPECT_TRUE(bandit.all_gone());
  EXPECT_FALSE(bandit.choose(4));
  bandit.set_arms({"a", "c"});
  EXPECT_FALSE(bandit.all_gone()) << "a new session tries again";
  EXPECT_EQ(bandit.arms()[0].pulls, 3);
  ASSERT_EQ(bandit.arms().size(), 3u);
  EXPECT_EQ(bandit.arms()[2].gone, "no longer in the ensemble") << "what it did is still told";
  EXPECT_TRUE(bandit.knows("a") && bandit.knows("c") && !bandit.knows("b"));
}

TEST(Bandit, BudgetEndsAnArmAtOnce) {
  Bandit bandit;
  bandit.set_arms({"a"});
  bandit.failed("a", ModelFailure::Budget, "spent", 0, 0.0);
  EXPECT_TRUE(bandit.all_gone());
  EXPECT_EQ(bandit.arms()[0].pulls, 0) << "nothing was sent";
}

// An empty answer has a price, a cut-off one an unknown price, a busy server none.
TEST(Bandit, FailuresArePaidFor) {
  Bandit bandit;
  bandit.set_arms({"a", "b"});
  bandit.failed("a", ModelFailure::Passing, "the reply is empty", 0, 0.25);
  bandit.failed("a", ModelFailure::Passing, "cut off", 1, std::nullopt);
  EXPECT_EQ(bandit.arms()[0].usd, 0.25);
  EXPECT_EQ(bandit.arms()[0].unpriced, 1);
  bandit.set_arms({"a", "b"});
  bandit.failed("b", ModelFailure::Passing, "overloaded", 2, 0.0);
  bandit.begin("a");
  bandit.answered("a", true, 0.25);
  bandit.reward("a", 0.9);
  EXPECT_EQ(bandit.choose(9), "a") << "failing for nothing makes nobody cheap";
}

struct EnsembleCase {
  const char* text;
  const char* want;  // names separated by blanks, or a part of the error
  bool good;
};
class EnsembleTest : public ::testing::TestWithParam<EnsembleCase> {};
TEST_P(EnsembleTest, IsRead) {
  const auto arms = parse_ensemble(GetParam().text);
  ASSERT_EQ(static_cast<bool>(arms), GetParam().good) << (arms ? "" : arms.error().message);
  if (!arms) {
    EXPECT_NE(arms.error().message.find(GetParam().want), std::string::npos)
        << arms.error().message;
    return;
  }
  std::vector<std::string> names;
  for (const Arm& arm : *arms) names.push_back(arm.name());
  EXPECT_EQ(join(names, " "), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(
    Words, EnsembleTest,
    ::testing::Values(
        EnsembleCase{"a:b", "a:b", true},
        EnsembleCase{"a:b:0.7:high, c:d:low", "a:b:0.7:high c:d:low", true},
        EnsembleCase{"ollama:llama3:8b", "ollama:llama3:8b", true},
        EnsembleCase{"ollama:llama3:8b:1.0", "ollama:llama3:8b:1", true},
        EnsembleCase{"ollama:m:70", "ollama:m:70", true}, EnsembleCase{"a:b,a:b", "twice", false},
        EnsembleCase{"a:b,,c", "arm is empty", false}, EnsembleCase{"", "arm is empty", false},
        EnsembleCase{":0.5", "names no model", false}, EnsembleCase{"a:b:7.5", "0 to 2", false},
        EnsembleCase{"a:b:-0.5", "0 to 2", false}));

TEST(EnsembleFile, HasCommentsAndBlankLines) {
  const auto arms = parse_ensemble_lines("# who\n\na:b:0.5  # warm\ncommand:agent --x, y\n");
  ASSERT_TRUE(arms);
  ASSERT_EQ(arms->size(), 2u);
  EXPECT_EQ((*arms)[1].model, "command:agent --x, y");
  EXPECT_FALSE(parse_ensemble_lines("# nobody\n"));
}

struct EditCase {
  const char* answer;
  const char* want;  // the text, or a part of the error
  bool good;
};
class EditTest : public ::testing::TestWithParam<EditCase> {};
TEST_P(EditTest, IsApplied) {
  const auto made = apply_blocks("one\ntwo\nthree\ntwo\n", GetParam().answer);
  ASSERT_EQ(static_cast<bool>(made), GetParam().good);
  if (made)
    EXPECT_EQ(*made, GetParam().want);
  else
    EXPECT_NE(made.error().message.find(GetParam().want), std::string::npos)
        << made.error().message;
}
INSTANTIATE_TEST_SUITE_P(
    Blocks, EditTest,
    ::testing::Values(
        EditCase{"<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n", "1\ntwo\nthree\ntwo\n",
                 true},
        EditCase{"words\n<<<<<<< SEARCH\nthree  \ntwo\n=======\n>>>>>>> REPLACE\n", "one\ntwo\n",
                 true},
        EditCase{"<<<<<<< SEARCH\none\n=======\n1\n2\n>>>>>>> REPLACE\n"
                 "<<<<<<< SEARCH\n2\n=======\n3\n>>>>>>> REPLACE\n",
                 "1\n3\ntwo\nthree\ntwo\n", true},
        EditCase{"<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n", "2 times", false},
        EditCase{"<<<<<<< SEARCH\nfour\n=======\n4\n>>>>>>> REPLACE\n", "nowhere", false},
        EditCase{"<<<<<<< SEARCH\n=======\n4\n>>>>>>> REPLACE\n", "for nothing", false},
        EditCase{"<<<<<<< SEARCH\none\n", "no '=======' line", false},
        EditCase{"<<<<<<< SEARCH\none\n=======\n1\n", "no '>>>>>>> REPLACE' line", false},
        EditCase{"nothing", "no search/replace block", false}));

class BreederTest : public ::testing::Test {
 protected:
  record::Candidate mutate(Operator op, std::vector<std::string> parents = {}) {
    ProposalRequest request;
    request.number = number++;
    request.op = op;
    request.parents = std::move(parents);
    const auto made = mutator.mutate(request, archive);
    EXPECT_TRUE(made && *made) << operator_name(op);
    if (!made || !*made) return {};
    archive.add(**made, request);
    archive.add_screening((*made)->id, seen_at(fake_us(**made)), 1, {});
    return **made;
  }
  FakeDesigns designs;
  Mutator mutator{designs, 3};
  Population archive;
  int64_t number = 0;
};

TEST_F(BreederTest, GuessesFollowTheDesigns) {
  EXPECT_EQ(mutate(Operator::Guess).origin, "k=rows");
  EXPECT_EQ(mutate(Operator::Guess).origin, "k=tiles");
  const record::Candidate third = mutate(Operator::Guess);
  EXPECT_NE(third.stage, "guess") << "there are no more designs, so something else was done";
}

TEST_F(BreederTest, TuneChangesOneValueOrTwo) {
  const record::Candidate parent = mutate(Operator::Guess);
  for (int i = 0; i < 3; ++i) {
    const record::Candidate child = mutate(Operator::Tune, {parent.id});
    size_t differ = 0;
    for (const auto& [name, value] : child.tunes) differ += parent.tunes.at(name) != value;
    EXPECT_GE(differ, 1u);
    EXPECT_LE(differ, 2u);
    EXPECT_EQ(child.text, parent.text);
    EXPECT_EQ(child.parents, std::vector{parent.id});
  }
}

TEST_F(BreederTest, ScheduleKeepsTunablesThatFit) {
  const record::Candidate guess = mutate(Operator::Guess);
  const record::Candidate tuned = mutate(Operator::Tune, {guess.id});
  std::set<std::string> origins;
  for (int i = 0; i < 3; ++i) origins.insert(mutate(Operator::Schedule, {tuned.id}).origin);
  EXPECT_TRUE(origins.count("k=tiles") > 0);
  EXPECT_TRUE(origins.count("k=rows switches") > 0);
}

TEST_F(BreederTest, CrossTakesFromBoth) {
  const record::Candidate one = mutate(Operator::Guess), two = mutate(Operator::Guess);
  const record::Candidate third = mutate(Operator::Tune, {one.id});
  const record::Candidate child = mutate(Operator::Cross, {third.id, two.id});
  EXPECT_EQ(child.parents.size(), child.stage == "cross" ? 2u : 1u);
}

TEST_F(BreederTest, SimplifySwitchesAMethodOff) {
  const record::Candidate parent = mutate(Operator::Guess);
  const record::Candidate child = mutate(Operator::Simplify, {parent.id});
  EXPECT_EQ(child.stage, "simplify");
  EXPECT_LT(child.tunes.at("VEC") + child.tunes.at("UNROLL"),
            parent.tunes.at("VEC") + parent.tunes.at("UNROLL"));
}

TEST_F(BreederTest, EverythingIsTriedOnceAndThenThereIsNothing) {
  std::set<std::string> ids;
  ProposalRequest request;
  for (request.number = 0; request.number < 200; ++request.number) {
    request.op = request.number % 2 == 0 ? Operator::Tune : Operator::Simplify;
    const auto made = mutator.mutate(request, archive);
    ASSERT_TRUE(made);
    if (!*made) break;
    EXPECT_TRUE(ids.insert((*made)->id).second);
    archive.add(**made, request);
    archive.add_screening((*made)->id, seen_at(fake_us(**made)), 1, {});
  }
  EXPECT_GE(ids.size(), 2u * 3 * 2);
  EXPECT_LT(request.number, 200);
}

TEST_F(BreederTest, ADesignThatCannotBeWrittenIsLeftOut) {
  designs.broken = "k=rows";
  EXPECT_EQ(mutate(Operator::Guess).origin, "k=tiles");
  ASSERT_EQ(mutator.problems().size(), 1u);
  EXPECT_NE(mutator.problems()[0].find("k=rows"), std::string::npos);
}

TEST_F(BreederTest, WorksOnModulesOfModels) {
  record::Candidate theirs = record::make_candidate(
      *designs.text("k=rows", false) + "// by a model\n", {}, "llm", "words");
  theirs.model = "a:b";
  archive.add(theirs, {});
  archive.judged(theirs.id, seen_at(5));
  const record::Candidate child = mutate(Operator::Tune, {theirs.id});
  EXPECT_EQ(child.text, theirs.text);
  EXPECT_EQ(child.stage, "tune");
  EXPECT_EQ(child.model, "a:b") << "it has to be judged like everything of a model";
}

}  // namespace
}  // namespace kw::evolve
