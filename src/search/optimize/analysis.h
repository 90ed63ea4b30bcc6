// analysis.md: the evidence at the start of an iteration, with places for an agent's own text, or
// filled in by an author. Internal to optimize.
#pragma once

#include <string>
#include <vector>

#include "optimize/evidence.h"
#include "optimize/iteration_plan.h"

namespace kw::optimize {

/// The template that open-iter writes.
std::string analysis_template(const State& state, const Evidence& evidence,
                              const profile::Plan& plan);
/// The author's notes instead of an agent's text. `cannot`: methods that could not be written.
std::string analysis_by(const std::string& author, const State& state, const Evidence& evidence,
                        const profile::Plan& plan, const std::vector<std::string>& notes,
                        const std::vector<std::string>& cannot);

}  // namespace kw::optimize
