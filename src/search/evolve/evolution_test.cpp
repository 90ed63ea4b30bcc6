// Whole evolutions with fake ports: their results, that a seed repeats them, and that a stop at any
// event changes nothing.
#include "evolve/evolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/text.h"
#include "evolve/compare_runs.h"
#include "evolve/fakes.h"

namespace kw::evolve {
namespace {

/// Slow reviewers that refuse every second module.
class FakeReviewers : public Verifier {
 public:
  explicit FakeReviewers(Verifier& first) : first_(first) {}
  std::string name() const override { return "readers"; }
  Result<Vote> vote(const record::Candidate& candidate) override {
    Vote vote = KW_TRY(first_.vote(candidate));
    vote.reading = vote.seen.refused.empty();
    if (vote.reading) read_again(candidate);
    return vote;
  }
  void read_again(const record::Candidate& candidate) override { waiting_.push_back(candidate.id); }
  Result<std::vector<Review>> opinions() override {
    std::vector<Review> all;
    for (const std::string& id : waiting_) {
      const bool sure = id.back() % 2 == 0;
      all.push_back({id, 0.5, sure ? "sure that it is wrong" : "", "", 0.001});
      read.push_back(id);
    }
    waiting_.clear();
    return all;
  }
  std::vector<std::string> read;

 private:
  Verifier& first_;
  std::vector<std::string> waiting_;
};

class EvolutionTest : public ::testing::Test {
 protected:
  Settings settings() const {
    Settings made;
    made.generations = 4;
    made.proposals = 4;
    made.hardware = 2;
    made.seed = 11;
    return made;
  }
  /// One session that continues from the journal.
  Result<std::string> go(FakeJournal& journal, const Settings& how) {
    state = journal.state();
    FakeAuthor proposer(how.seed);
    proposer.models = models;
    MechanicalVerifier mechanical(judge);
    NoVerifier none;
    judge.clock = how.has_clock;
    Ports ports;
    ports.proposer = &proposer;
    ports.verifier = how.verifier == "off" ? static_cast<Verifier*>(&none) : &mechanical;
    FakeReviewers reviewers(mechanical);
    if (how.verifier == "readers") ports.verifier = &reviewers;
    ports.judge = &judge;
    ports.journal = &journal;
    ports.find = journal.find();
    const Result<std::string> why = Evolution(how, limits, ports, state).run();
    begun = proposer.begun;
    in_flight = proposer.most_in_flight;
    read = reviewers.read;
    EXPECT_EQ(state.misfits(), std::vector<std::string>{});
    return why;
  }
  Settings with_models(Authors authors, std::vector<std::string> arms = {"a:b", "c:d"}) const {
    Settings made = settings();
    made.authors = authors;
    made.arms = std::move(arms);
    made.in_flight = 3;
    return made;
  }
  static Proposal written(const std::string& text, const ProposalRequest& request) {
    Proposal proposal;
    proposal.candidate = record::make_candidate(
        fake_module("by" + std::to_string(request.number), false) + "// " + text + "\n", {}, "llm",
        operator_name(request.op), request.parents);
    proposal.candidate->model = request.arm;
    proposal.candidate->stage = operator_name(request.op);
    proposal.usd = 0.01;
    return proposal;
  }
  std::function<Proposal(const ProposalRequest&, const Population&)> models;
  TunedJudge judge;
  Limits limits;
  State state;
  std::vector<ProposalRequest> begun;
  size_t in_flight = 0;
  std::vector<std::string> read;
};

TEST_F(EvolutionTest, BeatsTheFirstCandidateWithoutAModel) {
  FakeJournal journal;
  const auto why = go(journal, settings());
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "4 generations are done");
  EXPECT_EQ(state.retired(), 16);
  EXPECT_EQ(state.generation(), 4);
  ASSERT_NE(state.archive().find(state.first()), nullptr);
  EXPECT_EQ(state.archive().find(state.first())->candidate.origin, "k=rows");
  EXPECT_LT(state.archive().best()->outcome.us, state.archive().find(state.first())->outcome.us);
  ASSERT_GE(state.curve().size(), 2u);
  for (size_t i = 1; i < state.curve().size(); ++i) {
    EXPECT_LT(state.curve()[i].us, state.curve()[i - 1].us);
    EXPECT_GE(state.curve()[i].proposals, state.curve()[i - 1].proposals);
  }
}

TEST_F(EvolutionTest, IsTheSameBySeedAndAnotherByAnother) {
  FakeJournal one, two, three;
  ASSERT_TRUE(go(one, settings()));
  ASSERT_TRUE(go(two, settings()));
  EXPECT_EQ(one.lines, two.lines);
  Settings other = settings();
  other.seed = 12;
  ASSERT_TRUE(go(three, other));
  EXPECT_NE(one.lines, three.lines);
}

TEST_F(EvolutionTest, EndsWhenEverythingWasTried) {
  Settings many = settings();
  many.generations = 100;
  FakeJournal journal;
  const auto why = go(journal, many);
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "no untried candidate is left");
  EXPECT_LT(state.retired(), 100);
}

// The machine fails at every event in turn. The resumed run has the same journal as an
// uninterrupted one, except for the events that begin sessions.
TEST_F(EvolutionTest, ACutAtAnyEventChangesNothing) {
  FakeJournal whole;
  ASSERT_TRUE(go(whole, settings()));
  const auto plain = [](const FakeJournal& journal) {
    std::vector<std::string> lines;
    for (const std::string& line : journal.lines) {
      if (line.find("\"begin\"") == std::string::npos) lines.push_back(line);
    }
    return lines;
  };
  for (size_t cut = 0; cut < whole.lines.size(); ++cut) {
    FakeJournal journal;
    journal.room = static_cast<int64_t>(cut);
    EXPECT_FALSE(go(journal, settings()));
    journal.room = -1;
    ASSERT_TRUE(go(journal, settings())) << cut;
    EXPECT_EQ(plain(journal), plain(whole)) << cut;
  }
}

// A journal with one line twice, exchanged with the next one, left out, or with another number.
class DamagedEvolution : public EvolutionTest {
 protected:
  void SetUp() override { ASSERT_TRUE(go(whole_, settings())); }
  /// The place of the n-th event of this kind.
  size_t nth(const std::string& kind, int n) const {
    for (size_t i = 0; i < whole_.lines.size(); ++i) {
      if (Json::parse(whole_.lines[i]).value()["event"].as_string() == kind && n-- == 0) return i;
    }
    return whole_.lines.size();
  }
  State after(const std::function<void(std::vector<std::string>&)>& damage) const {
    FakeJournal damaged = whole_;
    damage(damaged.lines);
    return damaged.state();
  }
  static void expect_as(const State& got, const State& want) {
    EXPECT_EQ(got.generation(), want.generation());
    EXPECT_EQ(got.retired(), want.retired());
    EXPECT_EQ(got.next_request(), want.next_request());
    EXPECT_EQ(got.archive().entries().size(), want.archive().entries().size());
    EXPECT_EQ(got.archive().best()->candidate.id, want.archive().best()->candidate.id);
  }
  FakeJournal whole_;
};

TEST_F(DamagedEvolution, ALineThatIsThereTwiceIsToldAndIgnored) {
  const State want = whole_.state();
  for (const char* kind : {"order", "offer", "seen", "chosen", "judged", "generation"}) {
    const size_t at = nth(kind, 1);
    if (at == whole_.lines.size()) continue;
    const State read_back = after([at](auto& lines) {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[at]);
    });
    ASSERT_EQ(read_back.misfits().size(), 1u) << kind;
    EXPECT_NE(read_back.misfits()[0].find("twice"), std::string::npos) << read_back.misfits()[0];
    expect_as(read_back, want);
  }
}

TEST_F(DamagedEvolution, AMissingLineIsTold) {
  for (const char* kind : {"order", "seen", "generation"}) {
    const size_t at = nth(kind, 1);
    const State read_back =
        after([at](auto& lines) { lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); });
    ASSERT_FALSE(read_back.misfits().empty()) << kind;
    EXPECT_NE(join(read_back.misfits(), "\n").find("missing"), std::string::npos) << kind;
    EXPECT_EQ(read_back.generation(), whole_.state().generation());
  }
}

TEST_F(DamagedEvolution, AReversedJournalIsTold) {
  const State read_back = after([](auto& lines) { std::reverse(lines.begin() + 1, lines.end()); });
  EXPECT_FALSE(read_back.misfits().empty());
  EXPECT_GE(read_back.generation(), 0);
  EXPECT_LE(read_back.generation(), whole_.state().generation());
}

TEST_F(DamagedEvolution, ANumberThatCannotBeIsToldAndIgnored) {
  for (const char* number : {"99999999999", "-1", "9223372036854775807", "4294967295", "\"3\""}) {
    for (const char* kind : {"generation", "order"}) {
      const std::string key = kind == std::string("order") ? "order" : "generation";
      const size_t at = nth(kind, 1);
      const State read_back = after([&](auto& lines) {
        Json line = Json::parse(lines[at]).value();
        lines[at] = line.set(key, Json::parse(number).value()).dump();
      });
      EXPECT_FALSE(read_back.misfits().empty()) << kind << " " << number;
      EXPECT_GE(read_back.generation(), 0) << number;
      EXPECT_LE(read_back.generation(), 4) << number;
      EXPECT_LE(read_back.next_request(), 16) << number;
    }
  }
}

TEST_F(EvolutionTest, AMachineThatFailsLeavesWhatWasLearnt) {
  FakeJournal journal;
  judge.before = [this] {
    return judge.screened < 5 ? Status(Done{}) : Status(environment_error("the GPU fell off"));
  };
  EXPECT_FALSE(go(journal, settings()));
  EXPECT_EQ(journal.state().archive().ranked().size(), 5u);
}

TEST_F(EvolutionTest, OnAClockTheFewMostPromisingAreMeasured) {
  Settings timed = settings();
  timed.has_clock = true;
  FakeJournal journal;
  ASSERT_TRUE(go(journal, timed));
  EXPECT_LE(judge.judged_count, timed.generations * timed.hardware);
  EXPECT_GE(judge.judged_count, timed.generations);
  EXPECT_TRUE(state.archive().best()->outcome.measured);
  for (const Point& point : state.curve()) EXPECT_TRUE(point.measured);
  EXPECT_EQ(state.first(), state.archive().entries().front().candidate.id);
}

TEST_F(EvolutionTest, EstimatesAndTimesAreNoOneCurve) {
  Settings how = settings();
  how.generations = 2;
  FakeJournal journal;
  ASSERT_TRUE(go(journal, how));
  EXPECT_FALSE(state.curve().empty());
  how.has_clock = true;
  how.generations = 3;
  ASSERT_TRUE(go(journal, how));
  ASSERT_FALSE(state.curve().empty());
  for (const Point& point : state.curve()) EXPECT_TRUE(point.measured);
  EXPECT_EQ(state.changes(), std::vector<std::string>{"measures was false, is true"});
}

TEST_F(EvolutionTest, WithoutVerifiersHardwareSeesWhatIsBroken) {
  models = [](const ProposalRequest& request, const Population&) {
    return written(request.number % 2 == 0 ? "wrong" : "fine", request);
  };
  Settings with = with_models(Authors::Models), without = with;
  without.verifier = "off";
  FakeJournal one, two;
  ASSERT_TRUE(go(one, with));
  ASSERT_TRUE(go(two, without));
  EXPECT_EQ(state.archive().entries().size(), 16u);
  EXPECT_GT(judge.judged_count, 0);
}

TEST_F(EvolutionTest, WhatReadersAreSureOfIsNotJudged) {
  Settings how = settings();
  how.verifier = "readers";
  how.has_clock = true;
  FakeJournal journal;
  ASSERT_TRUE(go(journal, how));
  EXPECT_FALSE(read.empty());
  EXPECT_TRUE(state.unread().empty());
  size_t refused = 0;
  for (const Entry& entry : state.archive().entries()) {
    if (entry.outcome.refused != "sure that it is wrong") continue;
    ++refused;
    EXPECT_FALSE(entry.judged) << entry.candidate.id;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(state.usd(), 0) << "reading has a price";
}

// Without a clock, generated code counts at once. If reviewers refuse it later, it leaves the
// curve.
TEST_F(EvolutionTest, TheCurveForgetsWhatWasRefused) {
  Settings how = settings();
  how.verifier = "readers";
  FakeJournal journal;
  ASSERT_TRUE(go(journal, how));
  ASSERT_FALSE(state.curve().empty());
  EXPECT_EQ(state.first(), state.curve().front().id);
  for (size_t i = 0; i < state.curve().size(); ++i) {
    EXPECT_TRUE(state.archive().find(state.curve()[i].id)->alive());
    if (i > 0) {
      EXPECT_LT(state.curve()[i].us, state.curve()[i - 1].us);
    }
  }
  const Json counts = summary(how, state, "")["counts"];
  EXPECT_GT(counts["refused_by_readers"].as_int(), 0);
  EXPECT_EQ(counts["refused_by_readers"].as_int(), counts["refused"].as_int());
}

// Each outcome is in the journal before the next candidate is judged.
TEST_F(EvolutionTest, WhatModelsWroteIsJudgedAndNotedOneByOne) {
  models = [](const ProposalRequest& request, const Population&) {
    return written("fine", request);
  };
  FakeJournal journal;
  judge.before = [this] {
    return judge.judged_count < 1 ? Status(Done{}) : Status(environment_error("the power went"));
  };
  EXPECT_FALSE(go(journal, with_models(Authors::Models)));
  EXPECT_EQ(std::ranges::count_if(journal.state().archive().entries(), &Entry::judged), 1);
}

// However a session ends, every candidate is reviewed exactly once to the end.
TEST_F(EvolutionTest, WhatWasBeingReadIsReadAgain) {
  Settings how = settings();
  how.verifier = "readers";
  FakeJournal whole;
  ASSERT_TRUE(go(whole, how));
  const auto reading = std::ranges::find_if(whole.lines, [](const std::string& line) {
    return line.find("\"reading\"") != std::string::npos;
  });
  ASSERT_NE(reading, whole.lines.end());
  FakeJournal cut = whole;
  cut.lines.assign(whole.lines.begin(), reading + 1);
  ASSERT_EQ(cut.state().unread().size(), 1u);
  ASSERT_TRUE(go(cut, how));
  EXPECT_EQ(read.front(), Json::parse(*reading).value()["id"].as_string());
  EXPECT_TRUE(state.unread().empty());
  EXPECT_EQ(state.curve().back().id, whole.state().curve().back().id);
}

TEST_F(EvolutionTest, TranslatesRepairsAndThenOptimises) {
  models = [](const ProposalRequest& request, const Population& archive) {
    if (archive.best() != nullptr) return written("fine", request);
    if (request.number < 3) return written("broken", request);
    return written(request.op == Operator::Repair ? "fine" : "wrong", request);
  };
  FakeJournal journal;
  ASSERT_TRUE(go(journal, with_models(Authors::Models)));
  EXPECT_EQ(begun.front().op, Operator::Translate);
  const auto count = [&](Operator op) {
    return std::ranges::count(begun, op, &ProposalRequest::op);
  };
  EXPECT_GT(count(Operator::Repair), 0);
  EXPECT_GT(count(Operator::Diff) + count(Operator::Rewrite), 0);
  EXPECT_EQ(count(Operator::Guess), 0);
  ASSERT_NE(state.archive().best(), nullptr);
  EXPECT_TRUE(state.archive().best()->judged);
  EXPECT_EQ(in_flight, 3u);
  const auto asked =
      std::ranges::count_if(begun, [](const ProposalRequest& one) { return !one.arm.empty(); });
  EXPECT_NEAR(state.usd(), 0.01 * static_cast<double>(asked), 1e-9);
}

TEST_F(EvolutionTest, SomebodyTriesTheTunablesModelsOffer) {
  models = [](const ProposalRequest& request, const Population&) {
    return written("fine", request);
  };
  FakeJournal journal;
  ASSERT_TRUE(go(journal, with_models(Authors::Models)));
  int tuned = 0;
  for (const Entry& entry : state.archive().entries()) {
    if (!entry.request.arm.empty()) continue;
    ++tuned;
    EXPECT_EQ(entry.request.op, Operator::Tune);
    EXPECT_FALSE(entry.candidate.model.empty()) << "a model's text stays a model's";
    EXPECT_NE(entry.candidate.text.find("// fine"), std::string::npos);
  }
  EXPECT_GT(tuned, 0);
}

TEST_F(EvolutionTest, ToldToTranslateItEndsWithTheFirstThatIsRight) {
  models = [](const ProposalRequest& request, const Population&) {
    return written("fine", request);
  };
  Settings how = with_models(Authors::Models);
  how.mode = Mode::Translate;
  FakeJournal journal;
  const auto why = go(journal, how);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("first kernel that is right"), std::string::npos);
  EXPECT_LT(state.next_request(), how.requests());
  EXPECT_TRUE(state.in_flight().empty());
}

TEST_F(EvolutionTest, ToldToOptimiseModelsBeginWithAGeneratedKernel) {
  models = [](const ProposalRequest& request, const Population&) {
    return written("fine", request);
  };
  Settings how = with_models(Authors::Models);
  how.mode = Mode::Optimize;
  how.in_flight = 1;
  FakeJournal journal;
  ASSERT_TRUE(go(journal, how));
  EXPECT_EQ(begun[0].op, Operator::Guess);
  EXPECT_FALSE(begun[1].arm.empty());
  EXPECT_EQ(begun[1].parents, std::vector{state.first()});
}

TEST_F(EvolutionTest, AllArmsFailingIsAnHonestEnd) {
  models = [](const ProposalRequest& request, const Population&) {
    Proposal proposal;
    proposal.problem = request.arm == "a:b" ? "no key" : "overloaded";
    proposal.failure = request.arm == "a:b" ? ModelFailure::Lasting : ModelFailure::Passing;
    return proposal;
  };
  FakeJournal alone, both;
  const auto why = go(alone, with_models(Authors::Models));
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("every model failed"), std::string::npos);
  EXPECT_NE(why->find("no key"), std::string::npos);
  EXPECT_EQ(state.archive().best(), nullptr);
  const auto goes_on = go(both, with_models(Authors::Both));
  ASSERT_TRUE(goes_on);
  EXPECT_NE(state.archive().best(), nullptr) << "the operators without a model go on";
  EXPECT_EQ(goes_on->find("every model failed"), std::string::npos);
}

TEST_F(EvolutionTest, GoesOnWithAnotherEnsemble) {
  models = [](const ProposalRequest& request, const Population&) {
    return written("fine", request);
  };
  FakeJournal journal;
  journal.room = 30;
  EXPECT_FALSE(go(journal, with_models(Authors::Models)));
  const auto in_the_air = static_cast<int64_t>(std::ranges::count_if(
      state.in_flight(), [](const ProposalRequest& request) { return !request.arm.empty(); }));
  EXPECT_GT(in_the_air, 0);
  journal.room = 1;
  EXPECT_FALSE(go(journal, with_models(Authors::Models)));
  EXPECT_EQ(state.unpriced(), in_the_air) << "what these cost nobody knows";
  journal.room = -1;
  ASSERT_TRUE(go(journal, with_models(Authors::Models, {"c:d", "e:f"})));
  for (const ProposalRequest& request : begun) EXPECT_NE(request.arm, "a:b");
  EXPECT_EQ(state.sessions(), 3);
  EXPECT_EQ(state.unpriced(), in_the_air) << "once each";
  ASSERT_EQ(state.changes().size(), 2u);
  EXPECT_EQ(state.changes()[0], "no longer asked: a:b");
  EXPECT_EQ(state.changes()[1], "asked now: e:f");
  EXPECT_EQ(state.retired(), 16);
  EXPECT_GT(state.models().arms()[0].pulls, state.models().arms()[1].pulls - 8);
}

TEST_F(EvolutionTest, WhatWasTriedBeforeIsNotTriedAgain) {
  models = [](const ProposalRequest& request, const Population&) {
    ProposalRequest first = request;
    first.number = 0;
    return written("fine", first);
  };
  FakeJournal journal;
  ASSERT_TRUE(go(journal, with_models(Authors::Models)));
  EXPECT_EQ(std::ranges::count_if(state.archive().entries(),
                                  [](const Entry& one) { return !one.request.arm.empty(); }),
            1);
  EXPECT_EQ(state.retired(), 16);
}

TEST_F(EvolutionTest, IslandsTakeTurns) {
  Settings how = settings();
  how.islands = 2;
  FakeJournal journal;
  ASSERT_TRUE(go(journal, how));
  EXPECT_EQ(begun[0].island, 0);
  EXPECT_EQ(begun[1].island, 1);
  EXPECT_GT(state.archive().best()->islands.size(), 0u);
}

TEST_F(EvolutionTest, LimitsEndIt) {
  limits.goal_us = 1000;
  FakeJournal journal;
  const auto why = go(journal, settings());
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "the goal was reached");
  EXPECT_EQ(state.retired(), 1);
}

TEST_F(EvolutionTest, GoesOnForMoreGenerations) {
  FakeJournal journal;
  Settings how = settings();
  how.generations = 1;
  ASSERT_TRUE(go(journal, how));
  how.generations = 2;
  ASSERT_TRUE(go(journal, how));
  EXPECT_EQ(state.retired(), 8);
  FakeJournal once;
  ASSERT_TRUE(go(once, how));
  EXPECT_EQ(journal.state().archive().best()->candidate.id, state.archive().best()->candidate.id);
}

TEST_F(EvolutionTest, AForeignEventIsPassedOver) {
  FakeJournal journal;
  ASSERT_TRUE(go(journal, settings()));
  journal.lines.insert(journal.lines.begin() + 3, R"({"event":"weather","rain":true})");
  journal.lines.emplace_back(R"({"event":"offer","order":99,"id":"0000"})");
  EXPECT_EQ(journal.state().retired(), 16);
}

TEST_F(EvolutionTest, SummariesAreCompared) {
  FakeJournal one, two;
  ASSERT_TRUE(go(one, settings()));
  const Json first = summary(settings(), state, "done");
  Settings shorter = settings();
  shorter.generations = 1;
  ASSERT_TRUE(go(two, shorter));
  const Json second = summary(shorter, state, "done");
  const std::vector<ComparedRun> list = {{"long", first}, {"short", second}};
  const Json json = comparison_json(list);
  ASSERT_EQ(json["runs"].items().size(), 2u);
  EXPECT_GT(json["runs"].items()[0]["gain"].as_double(), 1.0);
  EXPECT_EQ(json["runs"].items()[0]["proposals_made"].as_int(), 16);
  const std::string text = comparison_text(list, false), marked = comparison_text(list, true);
  EXPECT_NE(text.find("long"), std::string::npos);
  EXPECT_NE(text.find("(est.)"), std::string::npos);
  EXPECT_NE(marked.find("|---|"), std::string::npos);
  EXPECT_EQ(best_after(first, 0), 0);
  EXPECT_EQ(best_after(first, 1), first["curve"].items()[0]["us"].as_double());
  EXPECT_NE(curve_text(first).find("us (est.)"), std::string::npos);
}

}  // namespace
}  // namespace kw::evolve
