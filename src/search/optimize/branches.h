// The branches of an iteration: kernels on disk, raced against their parent. Internal to optimize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "optimize/folder.h"
#include "optimize/optimize_tools.h"

namespace kw::optimize {

struct BranchFile {
  std::string name;  // "b2"
  int index = 0;     // 2
  std::string file;  // "iterv1/branches/b2/kernel.cu"
  std::string text;
  std::string problem;  // why it cannot be raced; "" when it can
};

/// All of branches/b0, b1 … that have a kernel.cu, by number. Input Error when there is none.
Result<std::vector<BranchFile>> read_branches(const Folder& folder, int iteration);

/// Checks that methods.json and the branches are those that were raced. The input Error says what
/// to do.
Status check_raced(const Folder& folder);

/// The fastest of those that passed; not set when none passed. The first kernel is the parent and
/// is skipped.
std::optional<size_t> fastest(const std::vector<ports::Outcome>& raced);

/// Whether a champion counts as better than its parent.
bool improves(const State& state, const BestKernel& champion,
              const std::optional<double>& parent_us);

}  // namespace kw::optimize
