// A comparison of evolutions as one HTML file: the best so far over proposals as a picture, and the
// tables of compare_runs.h. No scripts, fonts or links.
#pragma once

#include <string>
#include <vector>

#include "evolve/compare_runs.h"

namespace kw::evolve {

/// `title` and the names may contain any text; they are escaped.
std::string comparison_page(const std::string& title, const std::vector<ComparedRun>& list);

}  // namespace kw::evolve
