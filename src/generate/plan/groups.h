// Decides which variants of the kernels run together. A module has few groups of launches, so not
// all combinations are possible.
#pragma once

#include <vector>

#include "plan/module_text.h"
#include "task/task.h"

namespace kw::generate {

/// One variant index per kernel.
using VariantChoice = std::vector<size_t>;

/// The groups of a sequence, in the order they are tried; the last one always holds. Most groups
/// have the same level of generality for all kernels. One more group has each kernel's fastest
/// variant at the first of `shapes` that fits the sequence. It keeps one kernel's failing condition
/// from slowing down the others.
std::vector<VariantChoice> launch_groups(const Sequence& sequence,
                                         const std::vector<task::Dims>& shapes);

}  // namespace kw::generate
