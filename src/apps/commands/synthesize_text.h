// What a synthesis says to a person: a line of progress, and the summary at its end.
#pragma once

#include <string>

#include "report/style.h"
#include "workflows/synthesize.h"

namespace kw::commands {

std::string progress_text(const workflows::SynthesisProgress& progress);
std::string synthesis_text(const workflows::SynthesisReport& report, const report::Style& style);
/// How to go on after an interrupt.
std::string resume_hint(const std::string& folder);

}  // namespace kw::commands
