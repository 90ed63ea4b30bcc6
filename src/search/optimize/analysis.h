// analysis.md: what the evidence says at the opening of an iteration, with places for an agent's
// own words; and the same filled in by whoever works without one. Internal to optimize.
#pragma once

#include <string>
#include <vector>

#include "optimize/evidence.h"
#include "optimize/plan.h"

namespace kw::optimize {

/// The template that open-iter writes.
std::string analysis_template(const State& state, const Evidence& evidence,
                              const profile::Plan& plan);
/// What an author did, in place of the agent's own words. `cannot`: what nobody could write.
std::string analysis_by(const std::string& author, const State& state, const Evidence& evidence,
                        const profile::Plan& plan, const std::vector<std::string>& notes,
                        const std::vector<std::string>& cannot);

}  // namespace kw::optimize
