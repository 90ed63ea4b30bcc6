// Branches of a kernel that is being optimised, written by a model: one request, several modules
// back. Whether they are right or faster is found out elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/plan.h"
#include "stages/ports.h"
#include "stages/stages.h"

namespace kw::stages {

struct BranchesRequest {
  int iteration = 1, retry = 0, branches = 4;
  std::string parent;                  // text of the kernel
  std::vector<std::string> methods;    // to apply, in this order
  std::vector<std::string> inherited;  // must stay
  std::vector<std::string> guidance;   // per method
  std::string evidence;                // what is known about the parent
  std::vector<std::string> failures;   // of the try before
};

struct BranchesOutcome {
  std::vector<std::string> modules;      // whole texts, each once
  std::string problem;                   // why there are none
  std::optional<llm::Failure> provider;  // that ended it
};

/// Asks the performance stage's model, again as often as that stage may try when an answer holds
/// nothing that can be used.
Result<BranchesOutcome> write_branches(const Plan& plan, const Brief& brief,
                                       const BranchesRequest& request, const Answer& answer,
                                       Journal& journal);

/// The modules and diffs of an answer; `problem` says what is wrong with those that are left out.
std::vector<std::string> read_branches(const std::string& answer, const std::string& parent,
                                       std::string* problem);

}  // namespace kw::stages
