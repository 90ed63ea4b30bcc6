// Which step may follow which: the one table of the state machine, and what to do next in words.
#pragma once

#include <string>

#include "core/result.h"
#include "optimize/state.h"

namespace kw::optimize {

enum class Step : uint8_t {
  OpenIter,
  Validate,
  Roofline,
  Branch,
  Ablate,
  Sass,
  CloseIter,
  Finalize
};
/// As on the command line: "open-iter".
const char* step_name(Step step);

/// The iteration a step is about when nobody says: the next for OpenIter, else the open one.
int default_iteration(const State& state, Step step);

/// Input Error that says what to do instead. `force`: more iterations than planned; an iteration
/// left open.
Status may(const State& state, Step step, int iteration, bool force = false);

/// What to do next, as a sentence with a command.
std::string next_step(const State& state);

}  // namespace kw::optimize
