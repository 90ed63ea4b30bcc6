// What a synthesis says to a person: a line of progress, and the summary at its end.
#pragma once

#include <string>

#include "engine/synthesize.h"
#include "report/style.h"

namespace kw::cli {

std::string progress_text(const engine::SynthesisProgress& progress);
std::string synthesis_text(const engine::SynthesisReport& report, const report::Style& style);
/// How to go on after an interrupt.
std::string resume_hint(const std::string& folder);

}  // namespace kw::cli
