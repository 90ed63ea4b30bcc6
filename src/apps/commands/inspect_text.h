// Runs as text for users: lists, one run, one candidate, the difference of two. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "store/gc.h"
#include "workflows/fsck.h"
#include "workflows/inspect.h"

namespace kw::commands {

std::string runs_text(const std::vector<store::RunRow>& runs, const report::Style& style);
/// Shows at most `most` candidates, and the events if `events` is set.
std::string inspect_text(const workflows::RunView& view, size_t most, bool events,
                         const report::Style& style);
std::string candidate_text(const workflows::CandidateView& view, const report::Style& style);
std::string diff_text(const workflows::RunDiff& diff, const report::Style& style);
std::string fsck_text(const workflows::FsckReport& report, const report::Style& style);
std::string gc_text(const store::GcReport& report, bool removed, const report::Style& style);

}  // namespace kw::commands
