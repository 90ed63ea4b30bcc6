// Which step may follow which: the table of the state machine, and the next step as text.
#pragma once

#include <string>

#include "core/result.h"
#include "optimize/optimize_state.h"

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

/// The default iteration of a step: the next one for OpenIter, otherwise the open one.
int default_iteration(const State& state, Step step);

/// The input Error says what to do instead. `force` allows more iterations than planned and leaving
/// an iteration open.
Status may(const State& state, Step step, int iteration, bool force = false);

/// What to do next, as a sentence with a command.
std::string next_step(const State& state);

}  // namespace kw::optimize
