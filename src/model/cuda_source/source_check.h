// Rules for the device code of a module that can be judged from its text: includes, pragmas, host
// code, state, clocks.
#pragma once

#include <string_view>
#include <vector>

#include "cuda_source/diagnostics.h"

namespace kw::cuda_source {

/// Every violation, in order. parse() calls it too.
std::vector<Diagnostic> check_source(std::string_view text);

}  // namespace kw::cuda_source
