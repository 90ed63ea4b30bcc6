#include "mcp/tool.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "core/text.h"
#include "mcp/schema.h"
#include "options/command_list.h"

namespace kw::mcp {
namespace {

TEST(Tools, HaveNamesThatClientsTake) {
  std::set<std::string> names;
  for (const AgentTool& tool : all_tools()) {
    const std::string name = tool.name;
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_LE(name.size(), 64U);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
    EXPECT_GT(std::string_view(tool.about).size(), 30U) << name;
    EXPECT_EQ(tool.own == ServerTool::No, !tool.words.empty()) << name;
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
  for (const AgentTool& tool : all_tools()) {
    const Json schema = input_schema(tool);
    EXPECT_EQ(schema["type"].as_string(), "object");
    EXPECT_TRUE(schema["additionalProperties"].is_bool());
    EXPECT_FALSE(schema["additionalProperties"].as_bool(true)) << tool.name;
    EXPECT_FALSE(schema.contains("anyOf")) << tool.name;  // vendors reject it at the top
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
  for (const AgentTool& tool : all_tools()) {
    std::set<std::string> names, options;
    for (const ToolArgument& argument : tool.arguments) {
      EXPECT_TRUE(names.insert(argument.name).second) << tool.name << " " << argument.name;
      const std::string option = argument.option;
      EXPECT_TRUE(option.empty() || options.insert(option).second) << tool.name << " " << option;
    }
  }
}

TEST(Tools, AlwaysSayOnlyOptionsThatTheirCommandTakes) {
  for (const AgentTool& tool : all_tools()) {
    if (tool.own != ServerTool::No) continue;
    for (const char* word : tool.words.subspan(1)) {
      const std::string option = split(word, '=').front();
      EXPECT_TRUE(!option.starts_with("--") ||
                  options::find_command(tool.words.front())->find(option) != nullptr)
          << tool.name << " " << word;
    }
  }
}

TEST(Tools, ReadOnlyOffersNoneThatWrites) {
  const auto offered = offered_tools(true);
  EXPECT_LT(offered.size(), all_tools().size());
  for (const AgentTool* tool : offered) EXPECT_FALSE(tool->writes) << tool->name;
}

TEST(Tools, ThatLeaveSomethingBehindSayHowToGoOn) {
  for (const AgentTool& tool : all_tools()) {
    EXPECT_TRUE(!tool.writes || *tool.kept != '\0') << tool.name;
  }
}

}  // namespace
}  // namespace kw::mcp
