// The steps of a run: each reads the folder, asks the workshop, writes the folder, and says what to
// do next. An agent fills in files between them; authors do the same in one process (loop.h).
#pragma once

#include <functional>
#include <string>

#include "optimize/claims.h"
#include "optimize/folder.h"
#include "optimize/phase.h"
#include "optimize/workshop.h"

namespace kw::optimize {

/// What a step has to say. `ok` false: a kernel or a claim failed, which is no Error.
struct Outcome {
  bool ok = true;
  std::string text;
  Json document = Json::object();
};

using Say = std::function<void(const std::string&)>;

struct SetupRequest {
  std::string text;      // of the baseline, a kernel module
  std::string name;      // of its file: "softmax.cu"
  std::string original;  // what it was converted from; "" when it is a module as it is
  std::string folder;    // of the run, to be made
  Settings settings;
};

/// Whether the baseline is a module that passes here; writes nothing.
Result<Outcome> preflight(const SetupRequest& request, Workshop& workshop);
/// The same of a run that exists, and whether this machine is the one it was set up on.
Result<Outcome> preflight(const Folder& folder, Workshop& workshop);
/// Judges and times the baseline, calibrates the clock, profiles. Nothing is left behind when the
/// baseline does not pass. On success `made` is the folder.
Result<Outcome> setup(const SetupRequest& request, Workshop& workshop, std::optional<Folder>& made,
                      const Say& say);

/// Evidence, plan and template for the next iteration. Needs no device.
Result<Outcome> open_iter(Folder& folder, int iteration, bool force);
/// methods.json against the plan. Needs no device.
Result<Outcome> validate_methods(const Folder& folder, int iteration);
/// The evidence of the open iteration's input, in words.
Result<Outcome> show_roofline(const Folder& folder, int iteration);

struct CloseOptions {
  bool skip_validation = false;  // the gate's refusals are recorded instead
  Say say;
};
/// Races parent and branches; the champion is the fastest that passed.
Result<Outcome> branch(Folder& folder, Workshop& workshop, const CloseOptions& options);
/// Races the champion against itself without each method.
Result<Outcome> ablate(Folder& folder, Workshop& workshop, const CloseOptions& options);
/// Examines the champion and looks for each method in its machine code.
Result<Outcome> check_sass(Folder& folder, Workshop& workshop, const CloseOptions& options);
/// Whatever of the three is not done yet, then classifies and adopts.
Result<Outcome> close_iter(Folder& folder, Workshop& workshop, const CloseOptions& options);

/// summary.md. With a workshop the baseline and the best are raced once more, together. `force`
/// gives up an open iteration.
Result<Outcome> finalize(Folder& folder, Workshop* workshop, bool force, const Say& say);

/// The state in words; its JSON is the document.
Outcome show_state(const State& state);

/// Whether reference, baseline, task and machine are those of setup. Input or environment Error.
Status check_frozen(const Folder& folder, Workshop& workshop);

}  // namespace kw::optimize
