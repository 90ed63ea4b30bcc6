// Results of a long study: one JSON document per line, appended, so that a stopped study continues.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::honest {

/// Every whole line of the file; none if there is no file. The last line may be cut off.
Result<std::vector<Json>> read_json_lines(const std::string& path);

}  // namespace kw::honest
