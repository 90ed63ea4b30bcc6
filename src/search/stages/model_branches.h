// Branches of a kernel that is being optimised, written by a model: one request gives several
// modules. The caller verifies and times them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/stage_plan.h"
#include "stages/stage_ports.h"
#include "stages/stages.h"

namespace kw::stages {

struct BranchesRequest {
  int iteration = 1, retry = 0, branches = 4;
  std::string parent;                  // text of the kernel
  std::vector<std::string> methods;    // to apply, in this order
  std::vector<std::string> inherited;  // must stay in use
  std::vector<std::string> guidance;   // one text per method
  std::string evidence;                // evidence about the parent, as text
  std::vector<std::string> failures;   // of the previous try
};

struct BranchesOutcome {
  std::vector<std::string> modules;      // whole texts, without duplicates
  std::string problem;                   // why there are none, or why some were left out
  std::optional<llm::Failure> provider;  // the failure that ended the request
};

/// Asks the model of the performance stage. When an answer has no usable module, it asks again, as
/// often as that stage may try.
Result<BranchesOutcome> write_branches(const ModelPlan& plan, const StageInput& input,
                                       const BranchesRequest& request, const Answer& answer,
                                       Journal& journal);

/// The modules of an answer, with its diffs applied. `problem` says what is wrong with the blocks
/// that are left out.
std::vector<std::string> read_branches(const std::string& answer, const std::string& parent,
                                       std::string* problem);

}  // namespace kw::stages
