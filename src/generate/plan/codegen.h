// Kernel modules from a graph, with no model in the loop: partition into kernels, pick a schedule
// for each, write the source. Which design is the fastest is not decided here (search does); every
// design is correct for every shape of the task's domain.
#pragma once

#include <string>
#include <vector>

#include "arch/arch.h"
#include "core/result.h"
#include "task/task.h"

namespace kw::generate {

/// Which schedule a kernel of the partition gets.
struct Choice {
  std::string kernel;    // "rms_norm", "rms_norm_2": as the module names it
  std::string schedule;  // row of the schedule table: "pointwise", "block_per_row", …
  bool operator==(const Choice&) const = default;
};

/// One way to compute a task. Plain data: printed, compared, replayed.
struct Design {
  std::vector<Choice> choices;
  bool operator==(const Design&) const = default;
};

/// "rms_norm=block_per_row".
std::string design_text(const Design& design);

struct Options {
  arch::Target target{};
  std::vector<std::string> disabled_passes;  // names of pass rows; unknown ones are input Errors
  bool switches = false;  // more methods can be switched off (switches.h); for ablation, not search
};

/// Every design worth trying, the best guess first. Never empty for a task whose reference traces:
/// generic loops are the floor.
Result<std::vector<Design>> designs(const task::Task& task, const Options& options);

/// The module's text: shape-generic (`when` guards), every knob a `tune` line whose first value is
/// the best guess for the task's first benchmark shape, every optimisation a `method` line.
Result<std::string> generate(const task::Task& task, const Design& design, const Options& options);

}  // namespace kw::generate
