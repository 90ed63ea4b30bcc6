// What a tool is: a row that names one of our own commands and says how a client's arguments become
// its words. Schemas are made from the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "options/option.h"
#include "os/permissions.h"

namespace kw::mcp {

using options::Kind;

/// What a client may say: an option of the command as agents know it, or one of a tool's own.
struct Argument {
  std::string name;
  Kind kind;
  const char* option;  // "" = a word without an option, in the order of the rows
  const char* about;
  bool required = false;
  const char* choices = "";   // commas between
  double low = 0, high = 0;   // both 0: no bounds
  const char* fallback = "";  // the command is told this when nothing was given
};

/// A member of the command's document that clients can rely on.
struct Member {
  const char* name;
  const char* type;  // JSON Schema's name; several with commas between
  const char* about;
};

/// What a call competes for.
enum class Lane : uint8_t {
  Quick,  // milliseconds
  Cpu,    // the host's cores
  Gpu,    // the GPU, unless its device is the virtual one
};

/// What is done by the server itself, with no command.
enum class Own : uint8_t { No, Status, Result, Cancel };

struct Tool {
  const char* name;
  const char* title;
  const char* about;
  std::span<const char* const> words;  // the command and what always stands behind it
  std::vector<Argument> arguments;
  std::span<const Member> members;
  Lane lane = Lane::Quick;
  bool lasting = false;    // may take minutes: can be had as a job
  bool writes = false;     // leaves something on disk
  const char* kept = "";   // how to go on with what a stopped call leaves behind
  const char* bulky = "";  // members left out unless all is asked for: "samples,methods/guidance"
  Own own = Own::No;
};

/// Every row.
const std::vector<Tool>& all_tools();
/// With `read_only`, those that write nothing.
std::vector<const Tool*> offered_tools(bool read_only);

/// Whether a call may come to code of the client's own: a reference, a candidate or a run is named.
bool takes_code(const Tool& tool);
/// Whether a call may ask a language model.
bool asks_models(const Tool& tool);
/// What the tool does, for language models, with what becomes of code that it is given.
std::string description_of(const Tool& tool, const os::Permissions& allowed);

/// JSON Schemas: of a tool's arguments (strict) and of its structured result.
Json input_schema(const Tool& tool);
Json output_schema(const Tool& tool);

}  // namespace kw::mcp
