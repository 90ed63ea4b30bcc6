// summary.md: the whole run on one page, made from the state alone.
#pragma once

#include <string>

#include "optimize/optimize_state.h"

namespace kw::optimize {

std::string summary_text(const State& state);

}  // namespace kw::optimize
