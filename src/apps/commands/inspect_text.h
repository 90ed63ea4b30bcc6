// Runs as text for people: lists, one run, one candidate, the difference of two. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "store/gc.h"
#include "workflows/inspect.h"

namespace kw::commands {

std::string runs_text(const std::vector<store::RunRow>& runs, const report::Style& style);
/// At most `most` candidates are shown, and the events when asked for.
std::string inspect_text(const workflows::RunView& view, size_t most, bool events,
                         const report::Style& style);
std::string candidate_text(const workflows::CandidateView& view, const report::Style& style);
std::string diff_text(const workflows::RunDiff& diff, const report::Style& style);
std::string gc_text(const store::GcReport& report, bool removed, const report::Style& style);

}  // namespace kw::commands
