// What a tool is: a row that names one of our own commands and says how a client's arguments become
// its words. Schemas are made from the same rows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "os/permissions.h"

namespace kw::mcp {

/// How an argument is written by the client and read by the command.
enum class Kind : uint8_t {
  Text,       // any text
  Id,         // a name without blanks, slashes or signs: a method, a function
  Run,        // a run's id, or its folder inside the roots
  Choice,     // one of `choices`
  Choices,    // several of them, commas between
  Whole,      // a whole number
  Number,     // a number
  Flag,       // true or false
  Dims,       // an object of whole numbers, one option
  Pairs,      // an object of numbers, an option NAME=VALUE for each
  Inputs,     // an object of .npy files or families, an option NAME=SOURCE for each
  Texts,      // an array of texts, an option for each
  Module,     // a file inside the roots, or the text itself as NAME_text
  Reference,  // the same; may be a folder
  File,       // a file inside the roots
  Path,       // a file or a folder inside the roots
  Place,      // a folder inside the roots, there or not
  Folder,     // a folder inside the roots
  Waiting,    // not for the command: how long the client waits, how much it is told
};

struct Argument {
  const char* name;
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
  std::vector<std::span<const Argument>> arguments;
  std::span<const Member> members;
  Lane lane = Lane::Quick;
  bool lasting = false;    // may take minutes: can be had as a job
  bool writes = false;     // leaves something on disk
  const char* kept = "";   // how to go on with what a stopped call leaves behind
  const char* bulky = "";  // members left out unless all is asked for: "samples,methods/guidance"
  Own own = Own::No;
};

/// Every row, whether its command exists or not.
const std::vector<Tool>& all_tools();

/// Whether a command exists and, when an option is named, takes it.
using Knows = std::function<bool(const std::string& command, const std::string& option)>;
/// Those whose command knows every option they use; with `read_only`, those that write nothing.
std::vector<const Tool*> offered_tools(const Knows& knows, bool read_only);

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
