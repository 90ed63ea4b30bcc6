// The part of JSON Schema (2020-12) that our tools describe their arguments and results with. The
// very schemas that are published are what arguments are held against.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace kw::mcp {

/// Everything about `value` that `schema` does not allow, at most a dozen: "dims.B: must be a whole
/// number". Knows type, enum, properties, required, additionalProperties, minProperties,
/// maxProperties, items, minItems, maxItems, minimum, maximum, minLength, maxLength and anyOf.
std::vector<std::string> schema_problems(const Json& schema, const Json& value);

}  // namespace kw::mcp
