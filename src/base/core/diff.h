// What changed between two texts, line by line, the way diff -u says it. For people; not for
// patching binaries.
#pragma once

#include <string>
#include <string_view>

namespace kw {

/// "" when they are equal. A last line without a newline counts as one that differs from the same
/// with it.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name,
                         int context = 3);

}  // namespace kw
