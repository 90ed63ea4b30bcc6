// Generates kernel modules from a graph without a model: partition into kernels, pick a schedule
// for each, write the source. The search decides which design is the fastest; every design is
// correct for every shape of the task's domain.
#pragma once

#include <string>
#include <vector>

#include "arch/arch.h"
#include "core/result.h"
#include "task/task.h"

namespace kw::generate {

/// The schedule of one kernel of the partition.
struct Choice {
  std::string kernel;    // "rms_norm", "rms_norm_2": its name in the module
  std::string schedule;  // row of the schedule table: "pointwise", "block_per_row", …
  bool operator==(const Choice&) const = default;
};

/// One way to compute a task. Plain data: it can be printed, compared and replayed.
struct Design {
  std::vector<Choice> choices;
  bool operator==(const Design&) const = default;
};

/// "rms_norm=block_per_row".
std::string design_text(const Design& design);

struct Options {
  arch::Target target{};
  std::vector<std::string> disabled_passes;  // names of passes; an unknown name is an input Error
  bool switches = false;  // more methods can be switched off (switches.h); for ablation, not search
};

/// The dims whose values the kernels for the first benchmark shape are made for, as conditions:
/// "V == 2048". Extents that only occur in shapes and in numbers of the plan are not among them.
Result<std::vector<std::string>> frozen_dims(const task::Task& task);

/// Every design worth trying, the best guess first. Never empty if the reference traces, because
/// the generic schedule always applies.
Result<std::vector<Design>> designs(const task::Task& task, const Options& options);

/// The text of the module. It is valid for all shapes (`when` guards). Every tunable is a `tune`
/// line whose first value is the best guess for the task's first benchmark shape; every
/// optimisation is a `method` line.
Result<std::string> generate(const task::Task& task, const Design& design, const Options& options);

}  // namespace kw::generate
