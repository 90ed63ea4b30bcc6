// Shows counters as text for the user: totals per launch, then the module's most expensive lines
// with their source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/counters.h"
#include "report/style.h"

namespace kw::report {

/// `file_name` and `text` are the module's. Lines of other files are shown without source.
std::string counters_text(const std::vector<record::LaunchCounters>& launches,
                          const std::string& file_name, std::string_view text, const Style& style,
                          size_t hot_lines = 8);

}  // namespace kw::report
