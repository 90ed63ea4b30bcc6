// Finds the end of a UTF-8 sequence and checks that it is valid. It knows no character classes.
#pragma once

#include <cstddef>
#include <string_view>

namespace kw {

/// Length of the UTF-8 sequence at the start of the text, or 0 when no valid one starts there.
size_t utf8_length(std::string_view text);

}  // namespace kw
