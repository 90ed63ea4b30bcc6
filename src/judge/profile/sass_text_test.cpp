#include "profile/sass_text.h"

#include <gtest/gtest.h>

namespace kw::profile {
namespace {

SassFacts some_facts() {
  SassFacts facts;
  facts.instructions = 5;
  facts.opcodes = {{"LDG", 2}, {"FFMA", 2}, {"EXIT", 1}};
  facts.loads = {{4, 1}, {16, 1}};
  facts.loops = 1;
  facts.deepest = 1;
  return facts;
}

TEST(SassText, TellsFactsInOneLine) {
  EXPECT_EQ(facts_line(some_facts()),
            "5 instructions; global loads 1 x 16 bytes, 1 x 4 bytes; no spills; 1 loop");
  SassFacts facts = some_facts();
  facts.instructions = 1;
  facts.loads = {};
  facts.stores = {{1, 3}};
  facts.spill_stores = 2;
  facts.barriers = 1;
  facts.tensor = 2;
  facts.loops = facts.deepest = 3;
  EXPECT_EQ(facts_line(facts),
            "1 instruction; global stores 3 x 1 byte; local memory (spills): 0 loads, 2 stores; "
            "1 barrier; 2 matrix products; 3 loops, 3 deep");
}

TEST(SassText, ListsOpcodesByFrequency) {
  const std::string text = facts_text(some_facts(), "  ");
  EXPECT_NE(text.find("  opcodes: 2 FFMA, 2 LDG, 1 EXIT\n"), std::string::npos) << text;
  SassFacts many;
  for (int i = 0; i < 20; ++i) many.opcodes["OP" + std::to_string(i)] = 1;
  EXPECT_NE(facts_text(many, "").find("4 kinds more"), std::string::npos);
}

TEST(SassText, NamesEveryDifferenceOnce) {
  const SassFacts before = some_facts();
  SassFacts after = before;
  EXPECT_TRUE(fact_changes(before, after).empty());
  after.instructions = 6;
  after.loads = {{16, 2}};
  after.spill_loads = 1;
  after.opcodes["BAR"] = 1;
  EXPECT_EQ(fact_changes(before, after),
            (std::vector<std::string>{"instructions: 5 -> 6", "global loads of 4 bytes: 1 -> 0",
                                      "global loads of 16 bytes: 1 -> 2", "spill loads: 0 -> 1",
                                      "BAR: 0 -> 1"}));
}

TEST(SassText, AddsFunctionsUp) {
  SassFunction function;
  function.code = {{0, "", "LDG.E.128", "R4"}, {16, "", "EXIT", ""}};
  const SassFacts total = total_facts({function, function});
  EXPECT_EQ(total.instructions, 4);
  EXPECT_EQ(total.loads.at(16), 2);
  EXPECT_EQ(to_json(total)["global_loads"]["16"].as_int(), 2);
}

TEST(SassText, TellsAVerdictWithItsSightings) {
  SassVerdict verdict;
  verdict.state = SassState::Absent;
  verdict.why = "nothing changed";
  SassCheckResult sighting;
  sighting.check.opcodes = "wide_global";
  sighting.state = SassState::Absent;
  sighting.here = 0;
  sighting.why = "0 of wide_global";
  verdict.sightings = {sighting};
  EXPECT_EQ(verdict_text("memory.vectorized_access", verdict),
            "memory.vectorized_access: absent, nothing changed\n"
            "  present wide_global: absent, 0 of wide_global\n");
  const Json json = to_json(verdict);
  EXPECT_EQ(json["state"].as_string(), "absent");
  EXPECT_TRUE(json["sightings"].items()[0]["without"].is_null());
}

}  // namespace
}  // namespace kw::profile
