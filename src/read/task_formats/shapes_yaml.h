// Reads a list of shapes from a fixture of another generator: a YAML list of lists of integers, in
// any YAML notation. Other YAML is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::task_formats {

/// Shapes of one rank, every extent 1 or more. Errors look like "shapes.yaml:3: …".
Result<std::vector<std::vector<int64_t>>> parse_shapes_yaml(const std::string& text,
                                                            const std::string& file_name);

}  // namespace kw::task_formats
