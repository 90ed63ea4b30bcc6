// One row per command: its name, its options, what it does. Help texts are in help.txt alone.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "commands/io.h"
#include "core/result.h"

namespace kw::commands {

enum class Takes : uint8_t { Nothing, One, Many };

struct OptionRow {
  const char* name;  // "--dim"
  Takes takes;
};

/// What was typed, sorted by option.
struct Args {
  std::set<std::string> flags;
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::string> positionals;

  bool has(const std::string& flag) const { return flags.count(flag) > 0; }
  const std::vector<std::string>& all(const std::string& option) const;
  /// The value of an option that may be given once.
  std::string one(const std::string& option, const std::string& fallback = "") const;
};

struct Command {
  const char* name;
  const char* positional;  // what must be named: "MODULE", "TASK..." (several); "" = nothing
  bool positional_required;
  bool hidden;
  std::span<const OptionRow> options;  // beside --json and --help
  int (*run)(const Args& args, Io& io);
};

/// All commands, in the order of the help text.
std::span<const Command> commands();
const Command* find_command(const std::string& name);

/// Runs a command; the user is told of files that it executes.
int perform(const Command& command, const Args& args, Io& io);

/// Sorts the words behind the command's name. The input Error suggests what may have been meant.
Result<Args> parse_args(const Command& command, const std::vector<std::string>& words);

/// The help text of a command, or of the program for "main". "" when there is none.
std::string help_text(const std::string& section);

int synthesize_command(const Args& args, Io& io);
int evolve_command(const Args& args, Io& io);
int tune_verifiers_command(const Args& args, Io& io);
int resume_command(const Args& args, Io& io);
int tune_command(const Args& args, Io& io);
int run_command(const Args& args, Io& io);
int check_command(const Args& args, Io& io);
int import_command(const Args& args, Io& io);
int verify_command(const Args& args, Io& io);
int describe_command(const Args& args, Io& io);
int lint_command(const Args& args, Io& io);
int bench_command(const Args& args, Io& io);
int compare_command(const Args& args, Io& io);
int optimize_command(const Args& args, Io& io);
int calibrate_command(const Args& args, Io& io);
int eval_command(const Args& args, Io& io);
int screen_command(const Args& args, Io& io);
int profile_command(const Args& args, Io& io);
int roofline_command(const Args& args, Io& io);
int sass_command(const Args& args, Io& io);
int catalog_command(const Args& args, Io& io);
int runs_command(const Args& args, Io& io);
int inspect_command(const Args& args, Io& io);
int diff_command(const Args& args, Io& io);
int gc_command(const Args& args, Io& io);
int demo_command(const Args& args, Io& io);
int mcp_command(const Args& args, Io& io);
int doctor_command(const Args& args, Io& io);
int version_command(const Args& args, Io& io);
int help_command(const Args& args, Io& io);

/// The hidden process behind one call of an MCP tool.
int job_worker(const Args& args, Io& io);

/// Whether a command that users can call exists and, when an option is named, takes it.
bool knows_command(const std::string& name, const std::string& option);

}  // namespace kw::commands
