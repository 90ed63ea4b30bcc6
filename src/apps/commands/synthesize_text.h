// The text of a synthesis for users: a line of progress, and the summary at the end.
#pragma once

#include <string>

#include "report/style.h"
#include "workflows/synthesize.h"

namespace kw::commands {

std::string progress_text(const workflows::SynthesisProgress& progress);
std::string synthesis_text(const workflows::SynthesisReport& report, const report::Style& style);
/// How to continue after an interrupt.
std::string resume_hint(const std::string& folder);

}  // namespace kw::commands
