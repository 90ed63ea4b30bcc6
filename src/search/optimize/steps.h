// The steps of a run. Each reads the folder, uses the tools, writes the folder and says what to
// do next. An agent writes files between steps; an author does the same in one process (loop.h).
#pragma once

#include <functional>
#include <string>

#include "optimize/claims.h"
#include "optimize/folder.h"
#include "optimize/optimize_tools.h"
#include "optimize/phase.h"

namespace kw::optimize {

/// The result of a step. `ok` is false when a kernel or a claim failed, which is not an Error.
struct Outcome {
  bool ok = true;
  std::string text;
  Json document = Json::object();
};

using Say = std::function<void(const std::string&)>;

struct SetupRequest {
  std::string text;      // of the baseline, a kernel module
  std::string name;      // of its file: "softmax.cu"
  std::string original;  // what it was converted from; "" when it was a module
  std::string folder;    // of the run, to be created; "": a new one in `parent`
  std::string parent;
  Settings settings;
};

/// Whether the baseline is a module that passes on this machine. Writes nothing.
Result<Outcome> preflight(const SetupRequest& request, OptimizeTools& tools);
/// The same for the best kernel of a run. Also checks that this is the machine of its setup.
Result<Outcome> preflight(const Folder& folder, OptimizeTools& tools);
/// Verifies and times the baseline, measures the clock's noise, profiles. Leaves nothing behind
/// when the baseline does not pass. On success `made` is the folder.
Result<Outcome> setup(const SetupRequest& request, OptimizeTools& tools,
                      std::optional<Folder>& made, const Say& say);

/// Writes evidence, plan and template of the next iteration. Needs no device.
Result<Outcome> open_iter(Folder& folder, int iteration, bool force);
/// Checks methods.json against the plan. Needs no device.
Result<Outcome> validate_methods(const Folder& folder, int iteration);
/// The evidence about the open iteration's input, as text.
Result<Outcome> show_roofline(const Folder& folder, int iteration);

struct CloseOptions {
  bool skip_validation = false;  // record the gate's refusals instead of stopping
  Say say;
};
/// Races parent and branches. The champion is the fastest branch that passed.
Result<Outcome> branch(Folder& folder, OptimizeTools& tools, const CloseOptions& options);
/// Races the champion against itself without each method.
Result<Outcome> ablate(Folder& folder, OptimizeTools& tools, const CloseOptions& options);
/// Examines the champion and looks for each method in its machine code.
Result<Outcome> check_sass(Folder& folder, OptimizeTools& tools, const CloseOptions& options);
/// Runs those of the three that are not done yet, then classifies and adopts.
Result<Outcome> close_iter(Folder& folder, OptimizeTools& tools, const CloseOptions& options);

/// Writes summary.md. With tools it races baseline and best together once more. `force`
/// abandons an open iteration.
Result<Outcome> finalize(Folder& folder, OptimizeTools* tools, bool force, const Say& say);

/// The state as text; its JSON is the document.
Outcome show_state(const State& state);

/// Checks that reference, baseline, task and machine are those of setup. Input or environment
/// Error.
Status check_frozen(const Folder& folder, OptimizeTools& tools);

}  // namespace kw::optimize
