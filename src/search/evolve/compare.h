// What evolutions came to, side by side: a row each, and how good the best was after how many
// proposals. Reads the "evolution" member of reports; knows nothing of folders.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "evolve/state.h"

namespace kw::evolve {

/// The "evolution" member of a report: settings, counts, arms, operators, niches, curve.
Json summary(const Settings& settings, const State& state, const std::string& stopped);

/// One evolution among others.
struct Contestant {
  std::string name;  // of the run, or of what was switched on in it
  Json summary;
};

/// Rows, and the best so far at common numbers of proposals.
Json comparison_json(const std::vector<Contestant>& list);
/// The same for people: lines of cells with their headings first, a table of results and one of the
/// curves.
using Rows = std::vector<std::vector<std::string>>;
std::vector<Rows> comparison_rows(const std::vector<Contestant>& list);
/// As text; Markdown when asked for.
std::string comparison_text(const std::vector<Contestant>& list, bool markdown);

/// One evolution's curve: a line each time the best changed.
std::string curve_text(const Json& summary);

/// The best after so many proposals; 0: none yet.
double best_after(const Json& summary, int64_t proposals);

}  // namespace kw::evolve
