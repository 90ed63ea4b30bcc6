#include "catalog/reader.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace kw::catalog {
namespace {

constexpr const char* kMetrics = R"(
[[metric]]
id = "ipc"
title = "t"
unit = "ratio"
better = "high"
[[metric]]
id = "has_matmul"
title = "t"
unit = "flag"
better = "neither"
)";

/// A valid method row, with one line replaced by another.
std::string method(const std::string& from = "", const std::string& to = "") {
  std::string text =
      "[[method]]\nid = \"compute.one\"\ntitle = \"one\"\npriority = 1\n"
      "gain = [1, 2]\ntrigger = \"ipc < 2 worst 1\"\neffect = \"none\"\n"
      "expressible = \"module\"\nguidance = \"" +
      std::string(160, 'g') + "\"\n";
  return from.empty() ? text : replace_all(text, from, to);
}

std::string complaint(const std::string& text) {
  const auto read = read_tables({{"metrics.toml", kMetrics}, {"m.toml", text}});
  return read ? "" : read.error().message;
}

TEST(Reader, TakesAGoodRow) { EXPECT_EQ(complaint(method()), ""); }

struct Bad {
  const char* name;
  std::string text;
  const char* want;
};

class CatalogRefusals : public testing::TestWithParam<Bad> {};

TEST_P(CatalogRefusals, NameThePlaceAndTheProblem) {
  const std::string said = complaint(GetParam().text);
  EXPECT_NE(said.find(GetParam().want), std::string::npos) << said;
  EXPECT_EQ(said.rfind("m.toml:", 0), 0u) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CatalogRefusals,
    testing::Values(
        Bad{"no_toml", "[[method]\n", "m.toml:1"},
        Bad{"unknown_table", "[[recipe]]\nid = \"x\"\n", "'recipe' is not one of"},
        Bad{"a_table_alone", "[method]\nid = \"x\"\n", "'method' is not one of"},
        Bad{"missing_key", method("priority = 1\n", ""), "'priority' is missing"},
        Bad{"unknown_key", method("priority = 1", "priority = 1\nprioritty = 2"),
            "unknown key 'prioritty' (did you mean 'priority'?)"},
        Bad{"wrong_type", method("\"one\"", "7"), "'title' must be a string"},
        Bad{"huge_priority", method("priority = 1", "priority = 99999999999"), "1 to 1000"},
        Bad{"unknown_metric", method("ipc <", "ipcc <"),
            "'ipcc' is not a metric (did you mean 'ipc'?)"},
        Bad{"flag_compared", method("ipc < 2 worst 1", "has_matmul < 1"),
            "'has_matmul' is true or false"},
        Bad{"number_as_flag", method("ipc < 2 worst 1", "ipc"), "'ipc' is a number; compare it"},
        Bad{"worst_on_the_wrong_side", method("worst 1", "worst 3"),
            "the worst value must be smaller than that"},
        Bad{"broken_condition", method("ipc < 2 worst 1", "ipc < and"), "a number expected"},
        Bad{"skip_by_degrees", method("effect", "skip = \"ipc > 2 worst 3\"\neffect"),
            "cannot have a 'worst' value"},
        Bad{"no_trigger", method("trigger = \"ipc < 2 worst 1\"\n", ""), "has no trigger"},
        Bad{"unknown_feature", method("gain", "features = [\"wgmna\"]\ngain"),
            "'wgmna' is not a feature (did you mean 'wgmma'?)"},
        Bad{"features_nobody_has", method("gain", "features = [\"wgmma\", \"tcgen05\"]\ngain"),
            "no target has all features"},
        Bad{"unknown_effect", method("\"none\"", "\"non\""), "'effect' must be one of none, "},
        Bad{"unknown_opcodes", method("effect", "sass = [\"present hmma\"]\neffect"),
            "there are no opcodes 'hmma'"},
        Bad{"odd_sass", method("effect", "sass = [\"hmma\"]\neffect"), "'hmma' is not 'present|"},
        Bad{"unknown_sanitizer", method("effect", "sanitizer = [\"memchek\"]\neffect"),
            "'memchek' is unknown (did you mean 'memcheck'?)"},
        Bad{"gain_reversed", method("[1, 2]", "[2, 1]"), "[least, most]"},
        Bad{"gain_of_three", method("[1, 2]", "[1, 2, 3]"), "2 positive numbers"},
        Bad{"gain_infinite", method("[1, 2]", "[1, inf]"), "2 positive numbers"},
        Bad{"wrong_axis", method("compute.one", "speed.one"), "must begin with compute."},
        Bad{"odd_id", method("compute.one", "compute.One"), "not written like an id"},
        Bad{"no_paragraph", method(std::string(160, 'g'), "short"), "is not a paragraph"},
        Bad{"twice", method() + method(), "method 'compute.one' is at m.toml"},
        Bad{"needs_nobody", method("effect", "needs = [\"compute.two\"]\neffect"),
            "'compute.two' is unknown"},
        Bad{"needs_itself", method("effect", "needs = [\"compute.one\"]\neffect"),
            "is related to itself"},
        Bad{"one_sided_conflict",
            method("effect", "conflicts = [\"compute.two\"]\neffect") +
                replace_all(method("compute.one", "compute.two"), "priority = 1", "priority = 2"),
            "which does not list the conflict"},
        Bad{"circle",
            method("effect", "needs = [\"compute.two\"]\neffect") +
                replace_all(replace_all(method("compute.one", "compute.two"), "priority = 1",
                                        "priority = 2"),
                            "effect", "needs = [\"compute.one\"]\neffect"),
            "leads back to itself"},
        Bad{"priority_twice", method() + method("compute.one", "compute.two"),
            "belongs to compute.one already"},
        Bad{"bad_pattern",
            "[[opcodes]]\nid = \"x\"\ntitle = \"t\"\nrows = [{targets = [\"all\"], pattern = "
            "'(' }]\n",
            "not a regular expression"},
        Bad{"unknown_target",
            "[[opcodes]]\nid = \"x\"\ntitle = \"t\"\nrows = [{targets = [\"sm_91\"], pattern = "
            "'a' }]\n",
            "unknown target 'sm_91'"},
        Bad{"alias_twice",
            "[[metric]]\nid = \"a\"\ntitle = \"t\"\nunit = \"%\"\nbetter = \"low\"\nncu = "
            "[\"n\"]\n[[metric]]\nid = \"b\"\ntitle = \"t\"\nunit = \"%\"\nbetter = \"low\"\nncu = "
            "[\"n\"]\n",
            "'n' already means a"}),
    [](const auto& c) { return c.param.name; });

TEST(Reader, SaysEverythingAtOnce) {
  const std::string said = complaint(replace_all(
      replace_all(method("effect = \"none\"", "effect = \"nothing\""), "priority = 1", ""), "ipc <",
      "icp <"));
  EXPECT_NE(said.find("not 'nothing'"), std::string::npos);
  EXPECT_NE(said.find("'priority' is missing"), std::string::npos);
  EXPECT_NE(said.find("'icp' is not a metric"), std::string::npos);
  EXPECT_EQ(split_lines(said).size(), 3u) << said;
}

TEST(Reader, ACutFileIsRefusedOrSmallerButNeverACrash) {
  const std::string whole = method("effect", "sass = [\"present x\"]\nneeds = [\"a\"]\neffect");
  for (size_t cut = 0; cut < whole.size(); ++cut) complaint(whole.substr(0, cut));
}

struct Parse {
  const char* name;
  const char* text;
  const char* want;  // printed again; "!..." = part of the message
};

class Expressions : public testing::TestWithParam<Parse> {};

TEST_P(Expressions, AreReadOrRefused) {
  const auto parsed = parse_expression(GetParam().text);
  const std::string want = GetParam().want;
  if (want[0] != '!') {
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(to_text(*parsed), want);
  } else {
    ASSERT_FALSE(parsed);
    EXPECT_NE(parsed.error().message.find(want.substr(1)), std::string::npos)
        << parsed.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Expressions,
    testing::Values(Parse{"below", "dram_throughput_pct<60", "dram_throughput_pct < 60"},
                    Parse{"thresholds", "a > 5 worst 30", "a > 5 worst 30"},
                    Parse{"precedence", "a and b or c", "a and b or c"},
                    Parse{"groups", "a and (b or c)", "a and (b or c)"},
                    Parse{"spare_group", "(a and b) or ((c))", "a and b or c"},
                    Parse{"negation", "not (a and not b)", "not (a and not b)"},
                    Parse{"exponent", "a < 1e3", "a < 1000"}, Parse{"empty", "", "!metric"},
                    Parse{"dangling", "a and", "!metric expected at the end"},
                    Parse{"open", "(a or b", "!')'"}, Parse{"closed", "a)", "!'and', 'or'"},
                    Parse{"no_number", "a < b", "!number"}, Parse{"infinite", "a < inf", "!number"},
                    Parse{"equal_worst", "a < 5 worst 5", "!smaller"},
                    Parse{"operator", "a = 5", "!'and', 'or'"}, Parse{"keyword", "and", "!metric"}),
    [](const auto& c) { return c.param.name; });

TEST(Expressions, AreNotNestedForEver) {
  EXPECT_FALSE(parse_expression(std::string(100000, '(')));
  std::string nots;
  for (int i = 0; i < 100000; ++i) nots += "not ";
  EXPECT_FALSE(parse_expression(nots + "a"));
}

}  // namespace
}  // namespace kw::catalog
