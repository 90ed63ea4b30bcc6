#include "review/vote.h"

#include <gtest/gtest.h>

#include "core/random.h"
#include "review/metrics.h"
#include "review/scoreboard.h"

namespace kw::review {
namespace {

struct AnswerCase {
  const char* name;
  std::string answer;
  const char* problem;  // "": it is a vote
};

class Answers : public testing::TestWithParam<AnswerCase> {};

TEST_P(Answers, AreVotesOrNothing) {
  const Result<Vote> vote = parse_vote(Field::Memory, GetParam().answer, 40);
  const std::string problem = GetParam().problem;
  ASSERT_EQ(vote.has_value(), problem.empty()) << (vote ? "" : vote.error().message);
  if (!vote) {
    EXPECT_NE(vote.error().message.find(problem), std::string::npos) << vote.error().message;
  }
}

std::string json(const std::string& members) { return "{" + members + "}"; }
const std::string kRight = R"("verdict": "right", "confidence": 0.5, "reasons": [])";

INSTANTIATE_TEST_SUITE_P(
    All, Answers,
    testing::Values(
        AnswerCase{"bare", json(kRight), ""},
        AnswerCase{"fenced", "I looked.\n```json\n" + json(kRight) + "\n```\n", ""},
        AnswerCase{"wrong",
                   R"({"verdict":"wrong","confidence":1,"reasons":[{"line":40,"why":"x"}]})", ""},
        AnswerCase{"unsure", R"({"verdict":"unsure","confidence":0,"reasons":[]})", ""},
        AnswerCase{"prose", "It is right.", "no JSON"}, AnswerCase{"nothing", "", "no JSON"},
        AnswerCase{"cut", "```json\n" + json(kRight), "ends inside"},
        AnswerCase{"two",
                   "```json\n" + json(kRight) + "\n```\n```json\n" + json(kRight) + "\n```\n",
                   "several"},
        AnswerCase{"list", "[" + json(kRight) + "]", "no JSON"},
        AnswerCase{"accepted", R"({"verdict":"accepted","confidence":1,"reasons":[]})",
                   "not one of"},
        AnswerCase{"upper_case", R"({"verdict":"Right","confidence":1,"reasons":[]})",
                   "not one of"},
        AnswerCase{"confidence_text", R"({"verdict":"right","confidence":"1","reasons":[]})",
                   "0 to 1"},
        AnswerCase{"confidence_large", R"({"verdict":"right","confidence":100,"reasons":[]})",
                   "0 to 1"},
        AnswerCase{"confidence_negative", R"({"verdict":"right","confidence":-0.1,"reasons":[]})",
                   "0 to 1"},
        AnswerCase{"no_reason", R"({"verdict":"wrong","confidence":1,"reasons":[]})",
                   "without a reason"},
        AnswerCase{"no_reasons", R"({"verdict":"right","confidence":1})", "each once"},
        AnswerCase{"more_members", json(kRight + R"(, "score": 3)"), "'score'"},
        AnswerCase{"line_zero",
                   R"({"verdict":"wrong","confidence":1,"reasons":[{"line":0,"why":"x"}]})",
                   "1 to 40"},
        AnswerCase{"line_behind_the_end",
                   R"({"verdict":"wrong","confidence":1,"reasons":[{"line":41,"why":"x"}]})",
                   "1 to 40"},
        AnswerCase{"line_text",
                   R"({"verdict":"wrong","confidence":1,"reasons":[{"line":"3","why":"x"}]})",
                   "1 to 40"},
        AnswerCase{"why_empty",
                   R"({"verdict":"wrong","confidence":1,"reasons":[{"line":3,"why":" "}]})",
                   "has no 'why'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(AnswersText, MangledOnesNeverDoHarm) {
  const std::string good =
      R"(```json
{"verdict":"wrong","confidence":0.75,"reasons":[{"line":3,"why":"one past the end"}]}
```)";
  Random random(11);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    const size_t changes = 1 + random.below(4);
    for (size_t k = 0; k < changes; ++k) {
      const size_t at = random.below(text.size());
      switch (random.below(3)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text.erase(at, 1 + random.below(9));
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(9)));
      }
      if (text.empty()) text = "x";
    }
    const Result<Vote> vote = parse_vote(Field::Numerics, text, 10);
    if (!vote) continue;
    ++read;
    EXPECT_GE(vote->confidence, 0) << text;
    EXPECT_LE(vote->confidence, 1) << text;
    EXPECT_FALSE(vote->call == ReviewCall::Wrong && vote->reasons.empty()) << text;
    for (const Reason& reason : vote->reasons) EXPECT_TRUE(reason.line >= 1 && reason.line <= 10);
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 20000);
}

Vote vote(Field field, ReviewCall call, double confidence) {
  Vote one;
  one.field = field;
  one.call = call;
  one.confidence = confidence;
  one.calls = 1;
  one.usd = 0.01;
  if (call == ReviewCall::Wrong) one.reasons = {{7, "one past the end"}};
  return one;
}

struct PollCase {
  const char* name;
  std::vector<Vote> votes;
  Policy policy;
  double score;
  bool rejected;
};

class Polls : public testing::TestWithParam<PollCase> {};

TEST_P(Polls, AmountToAScore) {
  const Opinion opinion = aggregate(GetParam().votes, GetParam().policy);
  EXPECT_NEAR(opinion.score, GetParam().score, 1e-12);
  EXPECT_EQ(opinion.rejected, GetParam().rejected);
}

const Vote kSure = vote(Field::Compile, ReviewCall::Wrong, 0.95),
           kUnsure = vote(Field::Memory, ReviewCall::Wrong, 0.5),
           kGood = vote(Field::Numerics, ReviewCall::Right, 1),
           kSilent = vote(Field::Numerics, ReviewCall::None, 0);
const Policy kRejects{true, 0.9}, kRanks{false, 0.9};

INSTANTIATE_TEST_SUITE_P(
    All, Polls,
    testing::Values(PollCase{"nobody", {}, kRejects, 0.5, false},
                    PollCase{"silence", {kSilent, kSilent}, kRejects, 0.5, false},
                    PollCase{"all_sure", {kSure, kSure, kSure}, kRejects, 0.025, true},
                    PollCase{"not_allowed", {kSure, kSure, kSure}, kRanks, 0.025, false},
                    PollCase{"one_unsure", {kSure, kUnsure}, kRejects, 0.1375, false},
                    PollCase{"one_silent", {kSure, kSilent}, kRejects, 0.025, false},
                    PollCase{"one_against", {kSure, kGood}, kRejects, 0.5125, false},
                    PollCase{"all_good", {kGood, kGood}, kRejects, 1, false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Votes, SurviveBeingWritten) {
  for (const Vote& one : {kSure, kGood, kSilent})
    EXPECT_EQ(to_json(vote_from_json(to_json(one))).dump(), to_json(one).dump());
  EXPECT_EQ(vote_from_json(Json("nonsense")).call, ReviewCall::None);
}

TEST(Metrics, CountSilenceAsNoHit) {
  Confusion one;
  one.add(false, false, ReviewCall::Wrong);
  one.add(false, false, ReviewCall::Wrong);
  one.add(false, false, ReviewCall::Right);
  one.add(false, false, ReviewCall::None);
  one.add(true, false, ReviewCall::Right);
  one.add(true, false, ReviewCall::None);
  one.add(true, true, ReviewCall::Wrong);
  EXPECT_EQ(one.all(), 7);
  EXPECT_DOUBLE_EQ(one.accuracy(), 3.0 / 7);
  EXPECT_DOUBLE_EQ(one.precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(one.recall(), 2.0 / 4);
  EXPECT_NEAR(one.f1(), 2 * (2.0 / 3) * 0.5 / (2.0 / 3 + 0.5), 1e-12);
  EXPECT_NEAR(one.fitness(), 0.5, 1e-12) << "careful code called wrong counts double";
}

TEST(Metrics, AreZeroWhereTheyMeanNothing) {
  const Confusion none;
  EXPECT_EQ(none.accuracy() + none.precision() + none.recall() + none.f1() + none.fitness(), 0);
}

TEST(Scoreboard, HoldsOpinionsAgainstVerdicts) {
  Scoreboard board;
  board.opinion("a", aggregate({vote(Field::Compile, ReviewCall::Right, 1), kUnsure}, kRanks));
  board.opinion("b", aggregate({kSure, kUnsure}, kRanks));
  board.opinion("c", aggregate({kSure}, kRanks));
  board.judged("a",
               *final_verdict_of(Json::parse(R"({"verdict":"rejected","stage":"vgpu"})").value()));
  board.judged("b", *final_verdict_of(Json::parse(R"({"verdict":"passed"})").value()));
  EXPECT_EQ(board.open(), 1u);
  const std::vector<MetricRow> rows = board.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].who, "compile");
  EXPECT_EQ(rows[0].confusion.cleared, 1) << "what faults while running compiles";
  EXPECT_EQ(rows[0].confusion.false_alarms, 1);
  EXPECT_EQ(rows[1].confusion.caught, 1);
  EXPECT_EQ(rows[2].who, "panel");
  EXPECT_EQ(rows[2].confusion.silent_wrong, 1) << "one for and one against is no opinion";
  EXPECT_EQ(rows[2].confusion.false_alarms, 1);
  EXPECT_NE(metrics_table(rows).find("panel"), std::string::npos);
  const std::string text = scoreboard_text(board.json());
  EXPECT_TRUE(text.starts_with(metrics_table(rows))) << text;
  EXPECT_NE(text.find("1 of 3 opinions"), std::string::npos) << text;
  EXPECT_EQ(scoreboard_text(Json()), "");
  EXPECT_FALSE(final_verdict_of(Json::parse(R"({"verdict":"unknown"})").value()));
  EXPECT_FALSE(final_verdict_of(Json::parse(R"({"verdict":"rejected","stage":"timing"})").value()));
}

}  // namespace
}  // namespace kw::review
