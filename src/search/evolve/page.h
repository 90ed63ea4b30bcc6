// Evolutions side by side as one HTML file: the best so far over proposals as a picture, and the
// tables of compare.h. Nothing in it comes from elsewhere: no scripts, no fonts, no links.
#pragma once

#include <string>
#include <vector>

#include "evolve/compare.h"

namespace kw::evolve {

/// `title` and names may hold anything.
std::string comparison_page(const std::string& title, const std::vector<Contestant>& list);

}  // namespace kw::evolve
