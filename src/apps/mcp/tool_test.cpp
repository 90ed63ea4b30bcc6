#include "mcp/tool.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "mcp/schema.h"

namespace kw::mcp {
namespace {

bool knows_all(const std::string&, const std::string&) { return true; }

TEST(Tools, HaveNamesThatClientsTake) {
  std::set<std::string> names;
  for (const Tool& tool : all_tools()) {
    const std::string name = tool.name;
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_LE(name.size(), 64U);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
    EXPECT_GT(std::string_view(tool.about).size(), 30U) << name;
    EXPECT_EQ(tool.own == Own::No, !tool.words.empty()) << name;
  }
  for (const char* wanted :
       {"describe_task",  "lint_task",     "check_kernel",    "run_virtual_gpu",
        "verify_kernel",  "bench_kernel",  "compare_kernels", "profile_kernel",
        "roofline",       "sass",          "catalog",         "synthesize",
        "optimize_setup", "optimize_open", "optimize_close",  "optimize_finalize",
        "job_status",     "job_result",    "job_cancel",      "inspect_run",
        "doctor",         "evolve"})
    EXPECT_TRUE(names.count(wanted) == 1) << wanted;
}

TEST(Tools, DescribeEveryArgumentStrictly) {
  for (const Tool& tool : all_tools()) {
    const Json schema = input_schema(tool);
    EXPECT_EQ(schema["type"].as_string(), "object");
    EXPECT_TRUE(schema["additionalProperties"].is_bool());
    EXPECT_FALSE(schema["additionalProperties"].as_bool(true)) << tool.name;
    EXPECT_FALSE(schema.contains("anyOf")) << tool.name;  // vendors refuse it at the top
    for (const auto& [name, property] : schema["properties"].members()) {
      EXPECT_FALSE(property["description"].as_string().empty()) << tool.name << " " << name;
      EXPECT_TRUE(property.contains("type")) << tool.name << " " << name;
    }
    const auto problems = schema_problems(schema, Json::object().set("nonsense", 1));
    EXPECT_FALSE(problems.empty()) << tool.name;
    EXPECT_EQ(output_schema(tool)["type"].as_string(), "object");
  }
}

TEST(Tools, NoArgumentIsNamedTwice) {
  for (const Tool& tool : all_tools()) {
    std::set<std::string> names, options;
    for (const auto& group : tool.arguments) {
      for (const Argument& argument : group) {
        EXPECT_TRUE(names.insert(argument.name).second) << tool.name << " " << argument.name;
        const std::string option = argument.option;
        EXPECT_TRUE(option.empty() || options.insert(option).second) << tool.name << " " << option;
      }
    }
  }
}

TEST(Tools, OnlyThoseWithACommandAreOffered) {
  EXPECT_EQ(offered_tools(knows_all, false).size(), all_tools().size());
  const auto none = [](const std::string&, const std::string&) { return false; };
  for (const Tool* tool : offered_tools(none, false)) EXPECT_NE(tool->own, Own::No) << tool->name;
  const auto no_explain = [](const std::string&, const std::string& option) {
    return option != "--explain";
  };
  for (const Tool* tool : offered_tools(no_explain, false))
    EXPECT_STRNE(tool->name, "verify_kernel");
}

TEST(Tools, ReadOnlyOffersNoneThatWrites) {
  const auto offered = offered_tools(knows_all, true);
  EXPECT_LT(offered.size(), all_tools().size());
  for (const Tool* tool : offered) EXPECT_FALSE(tool->writes) << tool->name;
}

TEST(Tools, ThatLeaveSomethingBehindSayHowToGoOn) {
  for (const Tool& tool : all_tools()) {
    EXPECT_TRUE(!tool.writes || *tool.kept != '\0') << tool.name;
  }
}

}  // namespace
}  // namespace kw::mcp
