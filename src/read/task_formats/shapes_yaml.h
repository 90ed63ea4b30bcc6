// A list of shapes as other generators' fixtures write it: a YAML list of lists of integers, in any
// of its notations. Nothing else of YAML is understood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::task_formats {

/// Shapes of one rank, every extent 1 or more. Errors are "shapes.yaml:3: …".
Result<std::vector<std::vector<int64_t>>> parse_shapes_yaml(const std::string& text,
                                                            const std::string& file_name);

}  // namespace kw::task_formats
