// The functions behind the commands of the options table.
#pragma once

#include <string>
#include <vector>

#include "commands/io.h"
#include "core/result.h"
#include "options/args.h"

namespace kw::commands {

using options::Args;
using options::Command;

/// Runs a command; tells the user about files that it executes. Returns the exit code.
int perform(const Command& command, const Args& args, Io& io);
/// The same for the words of a command line.
int perform(const Command& command, const std::vector<std::string>& words, Io& io);

/// Every command that is not hidden, and its function, which returns the exit code. An Error is
/// shown by the caller. main.cpp makes its table from this list.
#define KW_COMMANDS(EACH)                        \
  EACH("synthesize", synthesize_command)         \
  EACH("evolve", evolve_command)                 \
  EACH("tune-verifiers", tune_verifiers_command) \
  EACH("resume", resume_command)                 \
  EACH("tune", tune_command)                     \
  EACH("run", run_command)                       \
  EACH("check", check_command)                   \
  EACH("import", import_command)                 \
  EACH("verify", verify_command)                 \
  EACH("describe", describe_command)             \
  EACH("lint", lint_command)                     \
  EACH("bench", bench_command)                   \
  EACH("compare", compare_command)               \
  EACH("optimize", optimize_command)             \
  EACH("calibrate", calibrate_command)           \
  EACH("eval", eval_command)                     \
  EACH("screen", screen_command)                 \
  EACH("profile", profile_command)               \
  EACH("roofline", roofline_command)             \
  EACH("sass", sass_command)                     \
  EACH("catalog", catalog_command)               \
  EACH("runs", runs_command)                     \
  EACH("inspect", inspect_command)               \
  EACH("diff", diff_command)                     \
  EACH("gc", gc_command)                         \
  EACH("fsck", fsck_command)                     \
  EACH("demo", demo_command)                     \
  EACH("mcp", mcp_command)                       \
  EACH("doctor", doctor_command)                 \
  EACH("completions", completions_command)       \
  EACH("version", version_command)               \
  EACH("help", help_command)
#define KW_DECLARE(name, function) Result<int> function(const Args& args, Io& io);
KW_COMMANDS(KW_DECLARE)
#undef KW_DECLARE

/// The hidden process behind one call of an MCP tool.
Result<int> job_worker(const Args& args, Io& io);
/// Runs a program behind the walls of a kind, for tests: KIND FOLDER PROGRAM [ARGUMENTS]. It may
/// write the folder.
Result<int> behind_walls(const Args& args, Io& io);
/// Answers a shell that completes a command line.
Result<int> complete_command(const Args& args, Io& io);

}  // namespace kw::commands
