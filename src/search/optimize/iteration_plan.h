// The plan of an iteration: profile's plan with the knowledge of this run. The same evidence and
// state always give the same plan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/evidence.h"
#include "optimize/optimize_state.h"
#include "profile/method_plan.h"

namespace kw::optimize {

/// The situation in which methods are tried now: a profile::fingerprint().
Result<std::string> context_of(const State& state, const profile::Roofline& roofline);

/// `excluded`: methods that the author cannot write, with the reason; they are not chosen.
Result<profile::Plan> plan_iteration(const State& state, const Evidence& evidence,
                                     const std::map<std::string, std::string>& excluded = {});

/// Why a method of higher priority is not among `claimed`: a reason that methods.json may give. ""
/// when there is none, so it should have been chosen. `claimed` may contain any ids.
std::string reason_not_chosen(const profile::Plan& plan, const State& state,
                              const profile::Judged& higher,
                              const std::vector<std::string>& claimed);

/// methods.json for these methods of the plan, with true reasons in `skipped_higher`.
Json methods_document(const profile::Plan& plan, const State& state, int iteration,
                      const std::vector<std::string>& claimed,
                      const std::map<std::string, std::string>& excluded);

/// plan.json: the chosen methods in the form of methods.json, and the status of every method.
Json plan_document(const profile::Plan& plan, const State& state, int iteration);

}  // namespace kw::optimize
