// The plan of an iteration: profile's, with what this run knows. The same evidence and state give
// the same plan, whoever asks and whenever.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/evidence.h"
#include "optimize/state.h"
#include "profile/plan.h"

namespace kw::optimize {

/// Where methods are tried now: a profile::fingerprint().
Result<std::string> context_of(const State& state, const profile::Roofline& roofline);

/// `excluded`: methods nobody here can write, with the reason; they are not considered at all.
Result<profile::Plan> plan_iteration(const State& state, const Evidence& evidence,
                                     const std::map<std::string, std::string>& excluded = {});

/// Why a method that stands before chosen ones is not among them, given `claimed`: a reason that
/// methods.json may give; "" when there is none, so that it should have been chosen. `claimed` may
/// hold anything.
std::string reason_not_chosen(const profile::Plan& plan, const State& state,
                              const profile::Judged& higher,
                              const std::vector<std::string>& claimed);

/// methods.json for these methods of the plan, `skipped_higher` filled in truthfully.
Json methods_document(const profile::Plan& plan, const State& state, int iteration,
                      const std::vector<std::string>& claimed,
                      const std::map<std::string, std::string>& excluded);

/// plan.json: what the evidence speaks for, in the form of methods.json, and where every method
/// stands.
Json plan_document(const profile::Plan& plan, const State& state, int iteration);

}  // namespace kw::optimize
