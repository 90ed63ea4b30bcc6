#include "optimize/classify.h"

#include <gtest/gtest.h>

namespace kw::optimize {
namespace {

using Kind = Attribution::Kind;
using profile::SassState;

struct ClassRow {
  const char* name;
  SassState seen;
  Kind kind;
  double low, pct, high;  // with a threshold of 2 %
  bool improved;
  Class want;
};

class Classes : public testing::TestWithParam<ClassRow> {};

TEST_P(Classes, FollowFromTheEvidence) {
  const ClassRow& row = GetParam();
  const Attribution attribution{row.kind, row.pct, row.low, row.high, 100.0, "a note"};
  const Classified got = classify(row.seen, attribution, 2, row.improved);
  EXPECT_STREQ(class_name(got.what), class_name(row.want)) << got.why;
  EXPECT_FALSE(got.why.empty());
}

constexpr auto kYes = SassState::Verified, kNo = SassState::Absent, kUnknown = SassState::Unknown;

INSTANTIATE_TEST_SUITE_P(
    All, Classes,
    testing::Values(
        // seen, ablation measured
        ClassRow{"wins", kYes, Kind::Measured, 5, 6, 7, true, Class::Effective},
        ClassRow{"wins_unadopted", kYes, Kind::Measured, 5, 6, 7, false, Class::Effective},
        ClassRow{"just_wins", kYes, Kind::Measured, 2.01, 3, 4, true, Class::Effective},
        ClassRow{"touches", kYes, Kind::Measured, 2, 3, 4, true, Class::Unverified},
        ClassRow{"unsure", kYes, Kind::Measured, -1, 3, 7, true, Class::Unverified},
        ClassRow{"too_little", kYes, Kind::Measured, 1.5, 1.9, 2.3, true, Class::Ineffective},
        ClassRow{"nothing", kYes, Kind::Measured, -0.2, 0, 0.2, true, Class::Ineffective},
        ClassRow{"harms", kYes, Kind::Measured, -7, -6, -5, true, Class::Ineffective},
        // not seen, for any measurement
        ClassRow{"not_there_wins", kNo, Kind::Measured, 5, 6, 7, true, Class::ImplementationFailed},
        ClassRow{"not_there", kNo, Kind::Measured, 0, 0, 0, true, Class::ImplementationFailed},
        ClassRow{"not_there_est", kNo, Kind::Estimated, 5, 5, 5, true, Class::ImplementationFailed},
        ClassRow{"not_there_ess", kNo, Kind::Essential, 0, 0, 0, true, Class::ImplementationFailed},
        ClassRow{"not_there_brk", kNo, Kind::Broken, 0, 0, 0, true, Class::ImplementationFailed},
        ClassRow{"not_there_mis", kNo, Kind::Missing, 0, 0, 0, true, Class::ImplementationFailed},
        // unknown whether it is there
        ClassRow{"blind_wins", kUnknown, Kind::Measured, 5, 6, 7, true, Class::Unverified},
        ClassRow{"blind_unsure", kUnknown, Kind::Measured, 1, 3, 5, true, Class::Unverified},
        ClassRow{"blind_nothing", kUnknown, Kind::Measured, -1, 0, 1, true, Class::Ineffective},
        ClassRow{"blind_est", kUnknown, Kind::Estimated, 9, 9, 9, true, Class::Unverified},
        ClassRow{"blind_ess", kUnknown, Kind::Essential, 0, 0, 0, true, Class::Unverified},
        ClassRow{"blind_brk", kUnknown, Kind::Broken, 0, 0, 0, true, Class::Unverified},
        ClassRow{"blind_mis", kUnknown, Kind::Missing, 0, 0, 0, true, Class::Unverified},
        // seen, without a clock or without a kernel to compare
        ClassRow{"estimate", kYes, Kind::Estimated, 50, 50, 50, true, Class::Unverified},
        ClassRow{"estimate_no", kYes, Kind::Estimated, -5, -5, -5, true, Class::Unverified},
        ClassRow{"missing", kYes, Kind::Missing, 0, 0, 0, true, Class::Unverified},
        ClassRow{"broken", kYes, Kind::Broken, 0, 0, 0, true, Class::Unverified},
        ClassRow{"essential", kYes, Kind::Essential, 0, 0, 0, true, Class::Effective},
        ClassRow{"essential_no_gain", kYes, Kind::Essential, 0, 0, 0, false, Class::Ineffective}),
    [](const testing::TestParamInfo<ClassRow>& row) { return std::string(row.param.name); });

ports::Outcome raced(const char* verdict, double us, bool measured) {
  ports::Outcome one;
  one.verdict = verdict;
  one.us = us;
  one.measured = measured;
  return one;
}

TEST(Attributions, AreOfTheChampionsTime) {
  ports::Outcome without = raced("passed", 125, true);
  without.ratio = Ratio{0.8, 0.79, 0.81, "SLOWER"};
  const Attribution a = attribution_of(raced("passed", 100, true), without);
  EXPECT_EQ(a.kind, Kind::Measured);
  EXPECT_NEAR(a.pct, 25, 1e-9);
  EXPECT_NEAR(a.low, 100 / 0.81 - 100, 1e-9);
  EXPECT_NEAR(a.high, 100 / 0.79 - 100, 1e-9);
}

TEST(Attributions, KindsFollowFromTheVerdict) {
  const ports::Outcome champion = raced("passed", 100, true);
  EXPECT_EQ(attribution_of(champion, raced("wrong", 0, false)).kind, Kind::Essential);
  EXPECT_EQ(attribution_of(champion, raced("crashed", 0, false)).kind, Kind::Essential);
  EXPECT_EQ(attribution_of(champion, raced("rejected", 0, false)).kind, Kind::Broken);
  EXPECT_EQ(attribution_of(champion, raced("unknown", 0, false)).kind, Kind::Broken);
  EXPECT_EQ(attribution_of(champion, raced("passed", 0, false)).kind, Kind::Broken);
  const Attribution estimate =
      attribution_of(raced("passed", 100, false), raced("passed", 150, false));
  EXPECT_EQ(estimate.kind, Kind::Estimated);
  EXPECT_NEAR(estimate.pct, 50, 1e-9);
}

}  // namespace
}  // namespace kw::optimize
