// Which variant of each kernel runs together with which of the others. A module has few groups of
// launches, so not all combinations are among them.
#pragma once

#include <vector>

#include "plan/module_text.h"
#include "task/task.h"

namespace kw::generate {

/// One variant per kernel.
using VariantChoice = std::vector<size_t>;

/// The groups of a sequence, to be tried in this order; the last one always holds. Beside those in
/// which all kernels are as fast, or as general, as each other there is the fastest one that holds
/// at the first of `shapes` that the sequence is for: what one kernel cannot have there is no
/// reason for others to do without.
std::vector<VariantChoice> launch_groups(const Sequence& sequence,
                                         const std::vector<task::Dims>& shapes);

}  // namespace kw::generate
