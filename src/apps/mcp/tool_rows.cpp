#include "mcp/tool_rows.h"

#include <utility>

#include "core/check.h"
#include "core/text.h"
#include "options/command_list.h"

namespace kw::mcp {
namespace {

ToolArgument argument_of(const std::string& command, std::string name) {
  const bool required = name.ends_with("!");
  if (required) name.pop_back();
  const options::Command* found = options::find_command(command);
  KW_CHECK(found != nullptr, "a tool names a command that does not exist");
  for (const options::Use& use : found->options) {
    const options::Option& row = *use.row;
    const options::Agent& agent = row.agent;
    if (*agent.about == '\0' || options::agent_name(row) != name) continue;
    return {name,      row.type.kind, row.name,      agent.about, required, row.type.choices,
            agent.low, agent.high,    agent.fallback};
  }
  KW_CHECK(false, "a tool takes an option that its command does not let agents give");
  return {};
}

}  // namespace

std::vector<ToolArgument> arguments(const std::string& command, std::vector<ToolArgument> own,
                                    const std::string& options, std::vector<ToolArgument> waiting) {
  for (const std::string& name : split(options, ' '))
    if (!name.empty()) own.push_back(argument_of(command, name));
  for (ToolArgument& argument : waiting) own.push_back(std::move(argument));
  return own;
}

const std::vector<AgentTool>& all_tools() {
  static const std::vector<AgentTool> kTools = [] {
    std::vector<AgentTool> all = kernel_tools();
    for (AgentTool& tool : run_tools()) all.push_back(std::move(tool));
    return all;
  }();
  return kTools;
}

}  // namespace kw::mcp
