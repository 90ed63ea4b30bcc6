// The table of tools: a row names one of our commands and how a client's arguments become its
// command-line words. Schemas are made from the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "options/command_list.h"
#include "os/permissions.h"

namespace kw::mcp {

using options::Kind;
using options::ResourceClass;

/// One argument of a tool: an option of the command under its name for agents, or the tool's own.
struct ToolArgument {
  std::string name;
  Kind kind;
  const char* option;  // "" = a positional word, in the order of the rows
  const char* about;
  bool required = false;
  const char* choices = "";   // separated by commas
  double low = 0, high = 0;   // both 0: no bounds
  const char* fallback = "";  // passed to the command when the argument is not given
};

/// A member of the command's document that clients can rely on.
struct Member {
  const char* name;
  const char* type;  // JSON Schema's name; several are separated by commas
  const char* about;
};

/// Tools that the server itself serves, without a command.
enum class ServerTool : uint8_t { No, Status, Result, Cancel };

struct AgentTool {
  const char* name;
  const char* title;
  const char* about;
  std::span<const char* const> words;  // the command and its fixed words
  std::vector<ToolArgument> arguments;
  std::span<const Member> members;
  bool writes = false;     // writes to disk
  const char* kept = "";   // how to continue after a stopped call
  const char* bulky = "";  // members left out unless "full" is set: "samples,methods/guidance"
  ServerTool own = ServerTool::No;
};

/// All rows.
const std::vector<AgentTool>& all_tools();
/// With `read_only`, only tools that do not write.
std::vector<const AgentTool*> offered_tools(bool read_only);

/// What a call needs, as the row of its command says.
ResourceClass resource_of(const AgentTool& tool);
/// Whether a call may take minutes, and so can run as a job.
bool is_lasting(const AgentTool& tool);
/// Whether a call may lead to code of the client: it names a reference, a candidate or a run.
bool takes_code(const AgentTool& tool);
/// Whether a call may ask a language model.
bool asks_models(const AgentTool& tool);
/// What the tool does, for models, and what happens with code that it is given.
std::string description_of(const AgentTool& tool, const os::Permissions& allowed);

/// JSON Schemas: of a tool's arguments (strict) and of its structured result.
Json input_schema(const AgentTool& tool);
Json output_schema(const AgentTool& tool);

}  // namespace kw::mcp
