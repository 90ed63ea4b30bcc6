// The line differences between two texts, in the format of diff -u. For people to read; not for
// patching binaries.
#pragma once

#include <string>
#include <string_view>

namespace kw {

/// Returns "" when the texts are equal. A last line without a newline differs from the same line
/// with one.
std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view before_name, std::string_view after_name,
                         int context = 3);

}  // namespace kw
