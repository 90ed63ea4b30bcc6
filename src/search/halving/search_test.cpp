#include "halving/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/random.h"
#include "ports/fakes.h"

namespace kw::halving {
namespace {

/// Proposes the numbers 0 … n-1 as candidates, in an order set by the seed.
class Numbers : public Proposer {
 public:
  explicit Numbers(size_t n, uint64_t seed = 0) {
    for (size_t i = 0; i < n; ++i) order_.push_back(i);
    Random random(seed);
    for (size_t i = n; seed > 0 && i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }
  std::string name() const override { return "numbers"; }
  Result<std::vector<record::Candidate>> propose(size_t count, const Archive& archive) override {
    std::vector<record::Candidate> out;
    while (out.size() < count && next_ < order_.size()) {
      const auto value = static_cast<int64_t>(order_[next_++]);
      auto made = record::make_candidate("k", {{"N", value}}, name(), value % 2 ? "odd" : "even");
      if (!archive.contains(made.id)) out.push_back(std::move(made));
    }
    return out;
  }

 private:
  std::vector<size_t> order_;
  size_t next_ = 0;
};

/// A judge for which candidate N takes `time(N)`.
class Canned : public ports::FakeJudge {
 public:
  Canned() { clock = true; }
  std::function<double(int64_t)> estimate = [](int64_t n) {
    return 100.0 + static_cast<double>(n);
  };
  std::function<double(int64_t)> time = [](int64_t n) { return 100.0 + static_cast<double>(n); };
  std::set<int64_t> not_compiling, wrong, wrong_at_last;
  std::vector<int64_t> screened, measured, certified;
  std::vector<size_t> fields;
  int fail_after = -1;

  static int64_t number(const record::Candidate& candidate) { return candidate.tunes.at("N"); }
  Result<ports::Outcome> examined(const record::Candidate& candidate, ports::Depth depth) override {
    const int64_t n = number(candidate);
    if (depth == ports::Depth::Screen) {
      screened.push_back(n);
      return not_compiling.count(n) ? ports::Outcome::refusal("it does not compile")
                                    : ports::Outcome::estimate(estimate(n), false);
    }
    if (fail_after >= 0 && static_cast<int>(measured.size()) >= fail_after)
      return environment_error("interrupted");
    measured.push_back(n);
    return wrong.count(n) ? ports::Outcome::refusal("wrong") : ports::Outcome::time(time(n));
  }
  Result<std::vector<ports::Outcome>> race(const ports::Candidates& candidates,
                                           const ports::RaceOptions& options) override {
    EXPECT_EQ(options.effort, static_cast<int>(fields.size()) + 1);
    fields.push_back(candidates.size());
    std::vector<ports::Outcome> looks;
    for (const auto& candidate : candidates)
      looks.push_back(ports::Outcome::time(time(number(candidate))));
    return looks;
  }
  Result<ports::Outcome> certify(const record::Candidate& candidate) override {
    const int64_t n = number(candidate);
    certified.push_back(n);
    return wrong_at_last.count(n) ? ports::Outcome::refusal("wrong with fresh inputs")
                                  : ports::Outcome::time(time(n));
  }
};

Options options() {
  Options made;
  made.seconds = [] { return 0.0; };
  return made;
}

int64_t winner_of(const SearchResult& outcome, const Archive& archive) {
  return outcome.winner ? archive.at(*outcome.winner).candidate.tunes.at("N") : -1;
}

TEST(Search, FindsTheFastestAndCertifiesIt) {
  Numbers proposer(50, 7);
  Canned world;
  world.time = [](int64_t n) { return 100.0 + std::abs(static_cast<double>(n) - 31); };
  world.estimate = [](int64_t) { return 100.0; };
  Archive archive;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(winner_of(*outcome, archive), 31);
  EXPECT_EQ(world.certified, std::vector<int64_t>{31});
  EXPECT_EQ(outcome->stopped, "no untried candidate is left");
  EXPECT_EQ(outcome->kept.size(), 49u);
  EXPECT_TRUE(archive.at(*outcome->winner).certified);
}

TEST(Search, HalvesTheFinalistsWithGrowingEffort) {
  Numbers proposer(40);
  Canned world;
  world.time = [](int64_t n) { return 100.0 + static_cast<double>(n) / 10; };
  Archive archive;
  ASSERT_TRUE(run(proposer, world, archive, options()));
  EXPECT_EQ(world.fields, (std::vector<size_t>{8, 4, 2}));
}

TEST(Search, WhatLooksBadIsNeverOnTheClock) {
  Numbers proposer(40);
  Canned world;
  world.estimate = [](int64_t n) { return n < 10 ? 100.0 : 400.0; };
  Archive archive;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(world.screened.size(), 40u);
  EXPECT_EQ(world.measured.size(), 10u);
  EXPECT_EQ(outcome->measured, 10u);
}

TEST(Search, WithoutVerifiersEverythingIsOnTheClockAsItComes) {
  Numbers proposer(12);
  Canned world;
  world.estimate = [](int64_t n) { return n < 6 ? 400.0 : 100.0; };
  Archive archive;
  Options as_they_come = options();
  as_they_come.by_estimate = false;
  const auto outcome = run(proposer, world, archive, as_they_come);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(world.measured, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Search, ARefusedWinnerGivesWayToTheNext) {
  Numbers proposer(10);
  Canned world;
  world.wrong_at_last = {0, 1};
  world.not_compiling = {4};
  world.wrong = {2};
  Archive archive;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(winner_of(*outcome, archive), 3);
  EXPECT_EQ(world.certified, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(archive.refused(), 4u);
}

TEST(Search, WithoutAClockTheEstimateOrders) {
  Numbers proposer(20, 3);
  Canned world;
  world.clock = false;
  world.wrong_at_last = {0};
  Archive archive;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(world.measured.empty());
  EXPECT_TRUE(world.fields.empty());
  EXPECT_EQ(winner_of(*outcome, archive), 1);
  EXPECT_EQ(archive.at(outcome->kept.front()).candidate.tunes.at("N"), 2);
}

TEST(Search, WhenNothingPassesThereIsNoWinner) {
  Numbers proposer(3);
  Canned world;
  world.wrong = {0, 1, 2};
  Archive archive;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->winner);
  EXPECT_TRUE(outcome->kept.empty());
}

TEST(Search, TheSameSeedTriesTheSameInTheSameOrder) {
  std::vector<int64_t> orders[3];
  for (int i = 0; i < 3; ++i) {
    Numbers proposer(30, i == 2 ? 6 : 5);
    Canned world;
    Archive archive;
    ASSERT_TRUE(run(proposer, world, archive, options()));
    orders[i] = world.screened;
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
}

TEST(Search, AnInterruptLosesNothingAndCanBeContinued) {
  Archive archive;
  {
    Numbers proposer(12);
    Canned world;
    world.fail_after = 6;
    const auto outcome = run(proposer, world, archive, options());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message, "interrupted");
  }
  const size_t known = archive.entries().size();
  EXPECT_GE(known, 8u);
  Numbers proposer(12);
  Canned world;
  const auto outcome = run(proposer, world, archive, options());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(winner_of(*outcome, archive), 0);
  EXPECT_EQ(world.screened.size(), 12 - known);
}

TEST(Search, WhatARunHasKeptIsOnlyMeasured) {
  Archive archive;
  {
    Numbers proposer(6);
    Canned world;
    world.clock = false;
    ASSERT_TRUE(run(proposer, world, archive, options()));
  }
  Numbers no_numbers(0);
  Canned world;
  world.time = [](int64_t n) { return 100.0 - static_cast<double>(n); };
  Options made = options();
  made.floor_us = 100;  // every estimate is near the floor, and that must not count
  made.rules.push_back(stop_at_goal(0.9));
  const auto outcome = run(no_numbers, world, archive, made);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(world.screened.empty());
  EXPECT_FALSE(world.measured.empty());
  EXPECT_EQ(winner_of(*outcome, archive), world.measured.back());
}

struct StopCase {
  const char* name;
  std::function<void(Options&)> set;
  const char* stopped;
  size_t tried;
};

class Stops : public testing::TestWithParam<StopCase> {};

TEST_P(Stops, ForItsReason) {
  Numbers proposer(1000);
  Canned world;
  Archive archive;
  Options made = options();
  double now = 0;
  made.seconds = [&now] { return now += 0.01; };
  GetParam().set(made);
  const auto outcome = run(proposer, world, archive, made);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stopped, GetParam().stopped);
  EXPECT_EQ(archive.entries().size(), GetParam().tried);
  EXPECT_EQ(winner_of(*outcome, archive), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, Stops,
    testing::Values(StopCase{"goal",
                             [](Options& o) {
                               o.floor_us = 96;
                               o.rules.push_back(stop_at_goal(0.95));
                             },
                             "goal reached: 96 % of the floor", 8},
                    StopCase{"goal_out_of_reach",
                             [](Options& o) {
                               o.floor_us = 80;
                               o.rules.push_back(stop_at_goal(0.95));
                               o.rules.push_back(stop_after_candidates(24));
                             },
                             "24 candidates tried", 24},
                    StopCase{"no_time",
                             [](Options& o) { o.rules.push_back(stop_after_seconds(0)); },
                             "time is up: 0 s", 1},
                    StopCase{"candidates",
                             [](Options& o) { o.rules.push_back(stop_after_candidates(40)); },
                             "40 candidates tried", 40},
                    StopCase{"plateau", [](Options& o) { o.rules.push_back(stop_at_plateau(30)); },
                             "no better candidate among the last 30", 32}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace kw::halving
