// Finds the table in a profiler's output: launches, each with its named cells. Does not know what
// the metrics mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::profile {

struct NcuCell {
  std::string name, unit, value;
};

struct NcuLaunch {
  std::string id, kernel;
  std::vector<NcuCell> cells;
};

struct NcuTable {
  bool labels = false;  // the names are those of the details page
  std::vector<NcuLaunch> launches;
};

/// Blame::Input when there is no table or the table has no units.
Result<NcuTable> read_ncu_table(std::string_view text, const std::string& log);

}  // namespace kw::profile
