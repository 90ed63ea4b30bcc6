#include "archive/archive.h"

#include <gtest/gtest.h>

namespace kw::archive {
namespace {

record::Candidate numbered(int64_t n, const char* origin = "o") {
  return record::make_candidate("k", {{"N", n}}, "t", origin);
}

TEST(Archive, BeamKeepsRoomForOtherOrigins) {
  Archive archive;
  for (int64_t n = 0; n < 8; ++n) {
    const record::Candidate made = numbered(n, n < 6 ? "a" : "b");
    ASSERT_TRUE(archive.add(made));
    EXPECT_FALSE(archive.add(made));
    archive.note(made, ports::Outcome::estimate(static_cast<double>(n + 1), false));
  }
  const auto beam = archive.beam(4);
  ASSERT_EQ(beam.size(), 4u);
  EXPECT_EQ(beam[1]->candidate.tunes.at("N"), 1);
  EXPECT_EQ(beam[2]->candidate.tunes.at("N"), 6);
  EXPECT_EQ(archive.beam(20).size(), 8u);
}

TEST(Archive, LowerLimitsStandBehindEstimates) {
  Archive archive;
  archive.note(numbered(0), ports::Outcome::estimate(1, true));
  archive.note(numbered(1), ports::Outcome::estimate(100, false));
  EXPECT_EQ(archive.best()->candidate.id, numbered(1).id);
}

TEST(Archive, TimesStandBeforeEstimates) {
  Archive archive;
  archive.note(numbered(0), ports::Outcome::estimate(1, false));
  archive.note(numbered(1), ports::Outcome::time(50));
  archive.note(numbered(2), ports::Outcome::refusal("wrong"));
  ASSERT_EQ(archive.ranked().size(), 2u);
  EXPECT_EQ(archive.best()->candidate.id, numbered(1).id);
  EXPECT_EQ(archive.refused(), 1u);
}

TEST(Archive, AnEstimateDoesNotReplaceATime) {
  Archive archive;
  const record::Candidate one = numbered(0);
  archive.note(one, ports::Outcome::time(50));
  archive.note(one, ports::Outcome::estimate(40, true));
  const Entry& entry = archive.note(one, ports::Outcome::refusal("wrong"));
  EXPECT_EQ(entry.measured_us(), 50);
  EXPECT_EQ(entry.estimate_us, 40);
  EXPECT_TRUE(entry.is_lower_bound);
  EXPECT_FALSE(entry.outcome.is_lower_bound);
  EXPECT_FALSE(entry.alive());
}

}  // namespace
}  // namespace kw::archive
