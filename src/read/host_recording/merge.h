// Merges several PTX texts into one, for candidates whose kernels were compiled separately.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::host_recording {

/// Declarations that several texts share appear once. Blame::Input if the texts have different
/// targets, or different declarations with one name.
Result<std::string> merge_ptx(const std::vector<std::string>& texts);

}  // namespace kw::host_recording
