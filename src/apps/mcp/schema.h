// The part of JSON Schema (2020-12) that describes our tools' arguments and results. Arguments are
// checked against exactly the published schemas.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace kw::mcp {

/// All problems of `value` under `schema`, at most 12: "dims.B: must be a whole number". Supports
/// type, enum, properties, required, additionalProperties, minProperties, maxProperties, items,
/// minItems, maxItems, minimum, maximum, minLength, maxLength and anyOf.
std::vector<std::string> schema_problems(const Json& schema, const Json& value);

}  // namespace kw::mcp
