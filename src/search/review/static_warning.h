// Finds suspicious arithmetic without running a module: sums in half precision, and sums of
// exponentials that may overflow. This is not proof, so it only ranks candidates. Indices, shared
// memory and launches are not checked: the virtual GPU does that exactly.
#pragma once

#include <string>
#include <vector>

namespace kw::review {

struct StaticWarning {
  int line = 0;
  std::string what;
};

std::vector<StaticWarning> static_warnings(const std::string& module_text);

/// 1 without warnings, lower with each one, never 0.
double static_warning_score(const std::vector<StaticWarning>& all);

}  // namespace kw::review
