// The rules for device code that can be checked from the text alone: includes, pragmas, host code,
// state, clocks.
#pragma once

#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"

namespace kw::cuda_source {

/// Every violation, in order. parse() also calls it.
std::vector<Diagnostic> check_source(std::string_view text);

}  // namespace kw::cuda_source
