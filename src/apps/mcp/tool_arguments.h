// Turns a client's arguments into the words of one of our commands. No shell is used, a value
// cannot become an option, and files must be inside the roots.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "mcp/roots.h"
#include "mcp/scratch.h"
#include "mcp/tool.h"

namespace kw::mcp {

struct Words {
  std::vector<std::string> words;    // the command first
  std::shared_ptr<Scratch> scratch;  // holds what was sent as text; nullptr when there was none
};

/// An input Error names the argument. `arguments` must fit the tool's schema.
Result<Words> command_line_of(const AgentTool& tool, const Json& arguments, const Roots& roots);

}  // namespace kw::mcp
