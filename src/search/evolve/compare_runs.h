// Compares evolutions: one row each, and the best time after equal numbers of proposals. Reads the
// "evolution" member of reports.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "evolve/evolution_state.h"

namespace kw::evolve {

/// The "evolution" member of a report: settings, counts, arms, operators, niches, curve.
Json summary(const Settings& settings, const State& state, const std::string& stopped);

/// One evolution in a comparison.
struct ComparedRun {
  std::string name;  // of the run, or of the options that it tests
  Json summary;
};

/// One row per run, and the best so far at common numbers of proposals.
Json comparison_json(const std::vector<ComparedRun>& list);
/// The same for people: a table of results and a table of curves, each with a row of headings.
using Rows = std::vector<std::vector<std::string>>;
std::vector<Rows> comparison_rows(const std::vector<ComparedRun>& list);
/// As text, or as Markdown.
std::string comparison_text(const std::vector<ComparedRun>& list, bool markdown);

/// The curve of one evolution: one line each time the best changed.
std::string curve_text(const Json& summary);

/// The best after this number of proposals; 0: none yet.
double best_after(const Json& summary, int64_t proposals);

}  // namespace kw::evolve
