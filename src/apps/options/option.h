// One row per option. Parsing, checks, help, the arguments of agents' tools, the words of the
// library and the tables of the documents are all made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/result.h"

namespace kw::options {

/// What an option's value is, and how agents write it as JSON.
enum class Kind : uint8_t {
  Flag,       // no value; true or false
  Text,       // any text
  Id,         // a name without blanks, slashes or signs: a method, a function
  Run,        // a run's id, or its folder
  Choice,     // one of `choices`
  Choices,    // several of them, commas between
  Whole,      // a whole number
  Number,     // a number
  Duration,   // 90, 90s, 1.5m, 2h or 500ms; at most a week
  Seconds,    // more than 0, at most a week
  Switch,     // on or off
  Dims,       // a JSON object of whole numbers
  Pairs,      // NAME=NUMBER, repeated
  Inputs,     // NAME=SOURCE, repeated: an .npy file or a family
  Texts,      // a text, repeated
  Module,     // a kernel module's file; agents may send the text itself as NAME_text
  Reference,  // the same for a reference; may be a folder
  File,       // a file that exists
  Path,       // a file or a folder that exists
  Place,      // a file or a folder, existing or not
  Folder,     // a folder that exists
  Waiting,    // of agents alone: how long they wait, how much they are told
};

struct Type {
  Kind kind;
  int64_t low = 0, high = 0;  // of Whole and Number
  const char* choices = "";   // commas between
  bool repeats = false;
};

/// How agents say it.
struct Agent {
  const char* about = "";  // "" = agents may not give it
  double low = 0, high = 0;
  const char* name = "";      // "" = the option's name with underscores
  const char* fallback = "";  // the command is told this when the agent says nothing
};

struct Option {
  const char* name;   // "--dim"
  const char* value;  // what help calls its value: "NAME=N"; "" = a flag
  Type type;
  const char* fallback;  // the value when it is not given; "" = none, or decided by the command
  const char* about;     // a line break stays where it is
  Agent agent = {};
  const char* of = "";  // commands that take this row and not the general one; blanks between

  bool is_flag() const { return type.kind == Kind::Flag; }
  bool repeats() const {
    return type.repeats || type.kind == Kind::Pairs || type.kind == Kind::Inputs ||
           type.kind == Kind::Texts;
  }
};

/// Every row.
std::span<const Option> all_options();
/// The row of an option as a command takes it; nullptr when there is none.
const Option* find_option(const std::string& command, const std::string& name);

/// What agents call it: "--cross-check" is cross_check, "--input" inputs.
std::string agent_name(const Option& option);

/// The input Error names the option and what it may be.
Status check_value(const Option& option, const std::string& text);
/// A value that passed check_value(): of Number, Duration and Seconds.
double number_of(const Option& option, const std::string& text);

}  // namespace kw::options
