// Json::parse() keeps the last of several members with one key. For texts that a user types, a
// repeated key is a mistake.
#pragma once

#include <string>
#include <string_view>

namespace kw {

/// A key that one object of the JSON text has twice; "" when there is none. Text that is not JSON
/// is left to Json::parse().
std::string repeated_key(std::string_view text);

}  // namespace kw
