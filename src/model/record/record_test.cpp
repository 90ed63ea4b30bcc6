#include <gtest/gtest.h>

#include <set>
#include <string>

#include "record/counters.h"
#include "record/finding.h"

namespace kw::record {

TEST(Finding, EveryKindHasItsOwnNameAndAHint) {
  std::set<std::string> names;
  for (int k = 0; k <= static_cast<int>(FindingKind::StateAcrossCalls); ++k) {
    const auto kind = static_cast<FindingKind>(k);
    EXPECT_TRUE(names.insert(finding_name(kind)).second);
    EXPECT_EQ(finding_from_name(finding_name(kind)), kind);
    const std::string hint = finding_hint(kind);
    EXPECT_GT(hint.size(), 20U);
    EXPECT_EQ(hint.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(finding_from_name("no-such-kind"));
}

TEST(Finding, JsonIsStable) {
  Finding finding;
  finding.kind = FindingKind::SharedRace;
  finding.message = "m";
  finding.kernel = "k<1>";
  finding.at = {"a.cu", 12, 40};
  finding.who = {{1, 0, 0}, {2, 3, 0}};
  finding.buffer = "tile";
  finding.element = 7;
  finding.other_at = Place{"a.cu", 9, 30};
  finding.other = ThreadId{{1, 0, 0}, {4, 0, 0}};
  Json json = to_json(finding);
  EXPECT_EQ(json["hint"].as_string(), finding_hint(FindingKind::SharedRace));
  json.set("hint", "");
  EXPECT_EQ(
      json.dump(),
      R"({"kind":"shared-race","certainty":"certain","message":"m","hint":"","kernel":"k<1>","launch":0,)"
      R"("at":{"file":"a.cu","line":12,"ptx_line":40},"who":{"block":[1,0,0],"thread":[2,3,0]},)"
      R"("buffer":"tile","element":7,"other_at":{"file":"a.cu","line":9,"ptx_line":30},)"
      R"("other":{"block":[1,0,0],"thread":[4,0,0]},"count":1})");
}

TEST(Counters, AddFieldByField) {
  CounterValues a, b;
  a.warp_total = 2;
  a.lane_total = 48;
  b.warp_total = 2;
  b.lane_total = 64;
  b.flops_tensor = 5;
  b.warp_instructions[static_cast<size_t>(InstClass::Atomic)] = 3;
  a += b;
  EXPECT_EQ(a.warp_total, 4U);
  EXPECT_EQ(a.flops_tensor, 5U);
  EXPECT_EQ(a.warp_instructions[static_cast<size_t>(InstClass::Atomic)], 3U);
  EXPECT_DOUBLE_EQ(a.lane_efficiency(), 112.0 / 128.0);
  EXPECT_EQ(CounterValues{}.lane_efficiency(), 0);
}

TEST(Counters, JsonNamesEveryCounterAndOnlyUsedClasses) {
  LaunchCounters launch;
  launch.kernel = "k";
  launch.total.global_load_sectors = 9;
  launch.total.warp_instructions[static_cast<size_t>(InstClass::LoadGlobal)] = 4;
  launch.lines.push_back({"a.cu", 3, {}});
  const Json json = to_json(launch);
  EXPECT_EQ(json["total"]["global_load_sectors"].as_int(), 9);
  EXPECT_EQ(json["total"]["by_class"].dump(), R"({"load_global":4})");
  EXPECT_EQ(json["lines"].items()[0]["line"].as_int(), 3);
  EXPECT_EQ(json["total"].members().size(), 28U);
}

}  // namespace kw::record
