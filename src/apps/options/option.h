// One row per option. Parsing, checks, help, the arguments of agents' tools, the words of the
// library, completions of shells and the tables in the documents are all made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::options {

/// The type of an option's value, and how agents write it as JSON.
enum class Kind : uint8_t {
  Flag,       // no value; true or false
  Text,       // any text
  Id,         // a name without blanks, slashes or signs: a method, a function
  Run,        // a run's id, or its folder
  Choice,     // one of `choices`
  Choices,    // several of them, separated by commas
  Whole,      // a whole number
  Number,     // a number
  Duration,   // 90, 90s, 1.5m, 2h or 500ms; at most a week
  Seconds,    // at least `low` milliseconds, at most a week
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
  Waiting,    // for agents only: how long they wait, how much is returned
};

struct Type {
  Kind kind;
  int64_t low = 0, high = 0;  // for Whole and Number; low also for Seconds
  const char* choices = "";   // separated by commas
  bool repeats = false;
};

/// The option for agents.
struct Agent {
  const char* about = "";  // "" = agents may not give it
  double low = 0, high = 0;
  const char* name = "";      // "" = the option's name with underscores
  const char* fallback = "";  // passed to the command when the agent does not give it
};

/// The option in runs that are stored and continued.
struct Replay {
  const char* keys = "";  // its members of the run's config.json: "models.model_id"; "" = none
  bool anew = false;      // may be given again when the run continues; otherwise it stays
};

struct Option {
  const char* name;   // "--dim"
  const char* value;  // the name of its value in help: "NAME=N"; "" = a flag
  Type type;
  const char* fallback;  // the value when it is not given; "" = none, or the command decides
  const char* about;     // line breaks are kept
  Agent agent = {};
  const char* of = "";  // commands that use this row, not the general one; separated by blanks
  Replay replay = {};

  /// The row with its Replay. Keys are separated by blanks.
  constexpr Option kept(const char* keys) const { return with({keys, false}); }
  constexpr Option anew(const char* keys = "") const { return with({keys, true}); }
  bool is_flag() const { return type.kind == Kind::Flag; }
  bool repeats() const {
    return type.repeats || type.kind == Kind::Pairs || type.kind == Kind::Inputs ||
           type.kind == Kind::Texts;
  }

 private:
  constexpr Option with(Replay how) const {
    Option row = *this;
    row.replay = how;
    return row;
  }
};

/// All rows.
std::span<const Option> all_options();
/// The row of an option for a command; nullptr when there is none.
const Option* find_option(const std::string& command, const std::string& name);

/// The names that a Choice or Choices takes.
std::vector<std::string> choices_of(const Option& option);
/// The name for agents: "--cross-check" is cross_check, "--input" inputs.
std::string agent_name(const Option& option);

/// The input Error names the option and the values it accepts.
Status check_value(const Option& option, const std::string& text);
/// The number in a value of Number, Duration or Seconds that passed check_value().
double number_of(const Option& option, const std::string& text);

}  // namespace kw::options
