// What `inspect` shows of a large run, kept in the index: reading 20,000 candidates takes seconds.
// A kept view holds until the run changes. It is marked with the user's key, so that it cannot be
// forged more easily than the run.
#pragma once

#include <optional>
#include <string>

#include "workflows/inspect.h"

namespace kw::workflows {

/// Fewest candidates for which a view is kept.
inline constexpr int64_t kManyCandidates = 1000;
/// Candidates in a kept view.
inline constexpr size_t kKeptCandidates = 100;

/// The kept view of a run, with its `most` best candidates. Their verdicts and timings and the
/// report are compared again with what they were. Not set when there is no view, the run has
/// changed, or one of these differs.
std::optional<RunView> kept_view(const std::string& folder, size_t most);
/// Keeps a complete view, if the run is large. A failure is ignored.
void keep_view(const RunView& view, const std::string& mark);

}  // namespace kw::workflows
