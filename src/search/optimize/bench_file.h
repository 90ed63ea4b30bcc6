// bench.json: the result of one kernel in a race, as docs/optimize.md describes it. Internal to
// optimize.
#pragma once

#include <string>

#include "core/json.h"
#include "optimize/optimize_state.h"
#include "optimize/optimize_tools.h"

namespace kw::optimize {

Json bench_document(const State& state, const std::string& file, const ports::Outcome& raced);
/// "412.3 us", "about 400 us (estimated)", "not timed".
std::string time_text(const std::optional<double>& us, bool measured);
/// "1.31x (1.29 to 1.33)".
std::string ratio_text(const Ratio& ratio);

}  // namespace kw::optimize
