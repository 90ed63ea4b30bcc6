// Several PTX texts as one, for candidates whose kernels were compiled one by one.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace kw::host_recording {

/// Declarations that several texts share stand once. Blame::Input when they are for several targets
/// or declare different things under one name.
Result<std::string> merge_ptx(const std::vector<std::string>& texts);

}  // namespace kw::host_recording
