#include "clock/paired_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "clock/random.h"

namespace kw::clock {
namespace {

constexpr double kPi = 3.14159265358979323846;

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.real())) * std::cos(2 * kPi * random.real());
}

/// How a device disturbs times: one factor per moment. `step` counts the samples of both programs
/// in the order in which they are taken.
struct Noise {
  const char* name;
  double bias = 0;  // standard deviation of an address effect per program and cycle
  std::function<double(Random& random, int step, int steps)> factor;
};

void PrintTo(const Noise& noise, std::ostream* out) { *out << noise.name; }

/// A device state that changes rarely and affects both programs.
double flipping(Random& random, int step) {
  // Every run of 37 samples has its own state, the same for both programs.
  Random state(static_cast<uint64_t>(step / 37) * 1000003 + 17);
  return (state.real() < 0.5 ? 1.0 : 1.08) * (1 + 0.003 * normal(random));
}

const Noise kNoises[] = {
    {"white", 0, [](Random& r, int, int) { return 1 + 0.01 * normal(r); }},
    {"quiet", 0, [](Random& r, int, int) { return 1 + 0.001 * normal(r); }},
    {"heavy tails", 0,
     [](Random& r, int, int) {
       // Student's t with two degrees of freedom, positive only: noise never makes a program
       // faster.
       const double t = std::abs(normal(r)) / std::sqrt(-std::log(1 - r.real()));
       return 1 + 0.004 * std::min(t, 200.0);
     }},
    {"interruptions", 0,
     [](Random& r, int, int) {
       return (1 + 0.004 * normal(r)) * (r.real() < 0.05 ? 1.3 + r.real() : 1.0);
     }},
    {"drift", 0,
     [](Random& r, int step, int steps) {
       const double at = static_cast<double>(step) / steps;
       return (1 + 0.05 * at + 0.01 * std::sin(9 * at)) * (1 + 0.004 * normal(r));
     }},
    {"warming up", 0,
     [](Random& r, int step, int) {
       return (1 + 0.2 * std::exp(-step / 10.0)) * (1 + 0.003 * normal(r));
     }},
    {"two states", 0, [](Random& r, int step, int) { return flipping(r, step); }},
    {"two states of each sample", 0,
     [](Random& r, int, int) { return (r.real() < 0.5 ? 1.0 : 1.04) * (1 + 0.002 * normal(r)); }},
    {"slow random walk", 0,
     [](Random& r, int step, int) {
       Random walk(99);
       double at = 0;
       for (int i = 0; i < step / 4; ++i) at += 0.002 * normal(walk);
       return std::exp(at) * (1 + 0.003 * normal(r));
     }},
    {"wild", 0, [](Random& r, int, int) { return std::exp(0.4 * normal(r)); }},
    {"addresses", 0.001, [](Random& r, int, int) { return 1 + 0.003 * normal(r); }},
};

/// Simulates an ABBA measurement of two programs; the candidate is slower by `slowdown`.
std::vector<Cycle> measured(const Noise& noise, double slowdown, uint64_t seed, int cycles = 5,
                            int samples = 40, int workers = 1) {
  Random random(seed);
  std::vector<Cycle> all;
  const int steps = cycles * samples * 2 * workers;
  int step = 0;
  for (int w = 0; w < workers; ++w) {
    for (int c = 0; c < cycles; ++c) {
      Cycle cycle;
      cycle.worker = w;
      const double bias_a = 1 + noise.bias * normal(random);
      const double bias_b = 1 + noise.bias * normal(random);
      for (int i = 0; i < samples; ++i) {
        double a = 0;
        double b = 0;
        const auto take_a = [&] {
          a = 1000 * (1 + slowdown) * bias_a * noise.factor(random, step++, steps);
        };
        const auto take_b = [&] { b = 1000 * bias_b * noise.factor(random, step++, steps); };
        if (i % 2 == 0) {
          take_a();
          take_b();
        } else {
          take_b();
          take_a();
        }
        cycle.candidate.push_back(a);
        cycle.baseline.push_back(b);
      }
      all.push_back(cycle);
    }
  }
  return all;
}

class Noises : public ::testing::TestWithParam<Noise> {};

TEST_P(Noises, AProgramIsNotFasterThanItself) {
  constexpr int kTrials = 250;
  int wrong = 0;
  int same = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const Relation relation = compare(measured(GetParam(), 0, trial * 7919 + 5)).relation;
    wrong += relation == Relation::Faster || relation == Relation::Slower;
    same += relation == Relation::Same;
  }
  RecordProperty("false_verdicts", wrong);
  RecordProperty("same", same);
  EXPECT_LE(wrong, kTrials / 50) << "of " << kTrials << "; " << same << " were called the same";
}

TEST_P(Noises, CertificationOverThreeProcessesIsNoLessHonest) {
  constexpr int kTrials = 100;
  int wrong = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const Relation relation = compare(measured(GetParam(), 0, trial + 1, 3, 40, 3)).relation;
    wrong += relation == Relation::Faster || relation == Relation::Slower;
  }
  EXPECT_LE(wrong, kTrials / 50);
}

TEST_P(Noises, QuickOnesAreNoLessHonest) {
  constexpr int kTrials = 250;
  int wrong = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const Relation relation = compare(measured(GetParam(), 0, trial + 1, 2, 20)).relation;
    wrong += relation == Relation::Faster || relation == Relation::Slower;
  }
  EXPECT_LE(wrong, kTrials / 50);
}

TEST_P(Noises, FivePercentAreNeverMissedForTheOpposite) {
  int found = 0;
  for (uint64_t trial = 0; trial < 40; ++trial) {
    const Comparison result = compare(measured(GetParam(), 0.05, trial + 100));
    EXPECT_NE(result.relation, Relation::Faster);
    EXPECT_NE(result.relation, Relation::Same);
    found += result.relation == Relation::Slower;
  }
  // Noise of forty times the effect must hide it.
  if (std::string(GetParam().name) == "wild") return;
  EXPECT_GE(found, 36);
}

INSTANTIATE_TEST_SUITE_P(Compare, Noises, ::testing::ValuesIn(kNoises), [](const auto& parameter) {
  std::string name = parameter.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

TEST(Compare, FindsOnePercentOnAMillisecond) {
  // Typical noise of a one-millisecond kernel on a quiet machine: 0.3 %, rare interruptions, slow
  // drift, small effects of addresses.
  const Noise realistic{"a millisecond", 0.0005, [](Random& r, int step, int steps) {
                          const double spike = r.real() < 0.02 ? 1.1 : 1.0;
                          return spike * (1 + 0.01 * step / steps) * (1 + 0.003 * normal(r));
                        }};
  int found = 0;
  for (uint64_t trial = 0; trial < 50; ++trial) {
    const Comparison result = compare(measured(realistic, 0.01, trial + 1));
    found += result.relation == Relation::Slower;
    EXPECT_NEAR(result.speedup, 1 / 1.01, 0.004);
  }
  EXPECT_EQ(found, 50);
}

TEST(Compare, CallsEqualProgramsTheSameWhenItIsQuiet) {
  for (uint64_t trial = 0; trial < 30; ++trial) {
    const Comparison result = compare(measured(kNoises[1], 0, trial + 1));
    EXPECT_EQ(result.relation, Relation::Same) << result.why;
    EXPECT_LE(result.detectable, 0.01);
  }
}

TEST(Compare, SaysWhenItCannotKnow) {
  const Noise wild{"wild", 0, [](Random& r, int, int) { return std::exp(0.5 * normal(r)); }};
  const Comparison result = compare(measured(wild, 0.01, 3, 2, 12));
  EXPECT_EQ(result.relation, Relation::Ambiguous);
  EXPECT_GT(result.detectable, 0.05);
  EXPECT_NE(result.why, "");
}

TEST(Compare, TheIntervalHoldsTheTruth) {
  int inside = 0;
  for (uint64_t trial = 0; trial < 200; ++trial) {
    const Comparison result = compare(measured(kNoises[0], 0.02, trial + 1));
    inside += result.low <= 1 / 1.02 && result.high >= 1 / 1.02;
  }
  EXPECT_GE(inside, 190);
}

TEST(Compare, ASignThatChangesFromProcessToProcessIsNoVerdict) {
  std::vector<Cycle> cycles;
  for (int worker = 0; worker < 4; ++worker) {
    const double factor = worker % 2 == 0 ? 1.05 : 1 / 1.03;
    for (Cycle cycle : measured(kNoises[1], 0, static_cast<uint64_t>(worker) + 1, 2)) {
      cycle.worker = worker;
      for (double& us : cycle.candidate) us *= factor;
      cycles.push_back(cycle);
    }
  }
  EXPECT_EQ(compare(cycles).relation, Relation::Ambiguous);
}

TEST(Compare, FewOrUnusableSamplesAreAmbiguous) {
  EXPECT_EQ(compare({}).relation, Relation::Ambiguous);
  const Cycle few{0, {1, 1}, {2, 2}};
  EXPECT_EQ(compare(std::vector<Cycle>{few}).relation, Relation::Ambiguous);
  const Cycle zeros{0, std::vector<double>(20, 0.0), std::vector<double>(20, 0.0)};
  EXPECT_EQ(compare(std::vector<Cycle>{zeros}).pairs, 0);
}

TEST(Compare, IsTheSameEveryTime) {
  const auto cycles = measured(kNoises[0], 0.01, 42);
  EXPECT_EQ(to_json(compare(cycles)).dump(), to_json(compare(cycles)).dump());
  EXPECT_EQ(to_json(compare(cycles))["verdict"].as_string(),
            relation_name(compare(cycles).relation));
}

}  // namespace
}  // namespace kw::clock
