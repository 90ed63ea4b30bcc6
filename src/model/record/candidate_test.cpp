#include "record/candidate.h"

#include <gtest/gtest.h>

#include "record/event.h"

namespace kw::record {
namespace {

TEST(CandidateId, IsItsContent) {
  const std::string id = candidate_id("// a", {{"VEC", 4}});
  EXPECT_EQ(id.size(), 16u);
  EXPECT_EQ(id, candidate_id("// a", {{"VEC", 4}}));
  EXPECT_NE(id, candidate_id("// a", {{"VEC", 8}}));
  EXPECT_NE(id, candidate_id("// b", {{"VEC", 4}}));
  EXPECT_NE(candidate_id("// a\nVEC=4", {}), id) << "a text cannot pretend to be tunables";
}

TEST(Candidate, ComesBackFromItsLineage) {
  Candidate one = make_candidate("text", {{"A", 1}, {"B", -2}}, "builtin", "rows", {"p1", "p2"});
  one.when = 1.5;
  const Candidate back = candidate_from_json(to_json(one), "text").value();
  EXPECT_EQ(back.id, one.id);
  EXPECT_EQ(back.tunes, one.tunes);
  EXPECT_EQ(back.proposer, "builtin");
  EXPECT_EQ(back.origin, "rows");
  EXPECT_EQ(back.parents, one.parents);
  EXPECT_EQ(back.when, 1.5);
}

TEST(Candidate, IsRefusedWhenItIsNotWhatItSays) {
  const Json lineage = to_json(make_candidate("text", {{"A", 1}}, "", ""));
  EXPECT_FALSE(candidate_from_json(lineage, "other text"));
  EXPECT_FALSE(candidate_from_json(Json(), "text"));
  Json wrong = lineage;
  EXPECT_FALSE(candidate_from_json(wrong.set("tunes", Json::object().set("A", "x")), "text"));
}

TEST(Event, ComesBackFromJson) {
  const Event back = event_from_json(to_json({2.5, "stage", Json::object().set("n", 1)})).value();
  EXPECT_EQ(back.seconds, 2.5);
  EXPECT_EQ(back.kind, "stage");
  EXPECT_EQ(back.data["n"].as_int(), 1);
  EXPECT_FALSE(event_from_json(Json::object().set("kind", "stage")));
  EXPECT_FALSE(event_from_json(Json("text")));
}

}  // namespace
}  // namespace kw::record
