// The functions behind the commands of the options table.
#pragma once

#include <string>

#include "commands/io.h"
#include "core/result.h"
#include "options/args.h"

namespace kw::commands {

using options::Args;
using options::Command;

/// Runs a command; tells the user about files that it executes.
int perform(const Command& command, const Args& args, Io& io);

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
int completions_command(const Args& args, Io& io);
int version_command(const Args& args, Io& io);
int help_command(const Args& args, Io& io);

/// The hidden process behind one call of an MCP tool.
int job_worker(const Args& args, Io& io);
/// Answers a shell that completes a command line.
int complete_command(const Args& args, Io& io);

}  // namespace kw::commands
