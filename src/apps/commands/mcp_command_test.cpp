#include <gtest/gtest.h>

#include <algorithm>

#include "commands/command.h"
#include "mcp/tool.h"

namespace kw::commands {

TEST(McpTools, StandOnCommandsAndOptionsThatExist) {
  const std::vector<const mcp::Tool*> offered = mcp::offered_tools(knows_command, false);
  for (const mcp::Tool& tool : mcp::all_tools()) {
    EXPECT_TRUE(std::find(offered.begin(), offered.end(), &tool) != offered.end())
        << tool.name << " uses a command or an option that does not exist";
  }
}

TEST(McpTools, KnowOnlyWhatUsersCanCall) {
  EXPECT_TRUE(knows_command("verify", ""));
  EXPECT_TRUE(knows_command("verify", "--explain"));
  EXPECT_FALSE(knows_command("verify", "--nonsense"));
  EXPECT_FALSE(knows_command("worker-job", ""));
  EXPECT_FALSE(knows_command("nothing", ""));
}

/// Options that take a value are not flags there, and the other way round.
TEST(McpTools, AgreeWithTheirCommandsOnWhatTakesAValue) {
  for (const mcp::Tool* tool : mcp::offered_tools(knows_command, false)) {
    if (tool->own != mcp::Own::No) continue;
    const Command& command = *options::find_command(tool->words.front());
    for (const auto& group : tool->arguments) {
      for (const mcp::Argument& argument : group) {
        for (const options::Use& use : command.options) {
          const options::Option& row = *use.row;
          if (std::string(argument.option) != row.name) continue;
          EXPECT_EQ(argument.kind == mcp::Kind::Flag, row.is_flag())
              << tool->name << " " << row.name;
          const bool several = argument.kind == mcp::Kind::Pairs ||
                               argument.kind == mcp::Kind::Inputs ||
                               argument.kind == mcp::Kind::Texts;
          EXPECT_TRUE(!several || row.repeats()) << tool->name << " " << row.name;
        }
      }
    }
  }
}

}  // namespace kw::commands
