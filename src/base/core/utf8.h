// UTF-8 as names and messages need it: where a sequence ends and whether it is one. Knows no
// character's meaning.
#pragma once

#include <cstddef>
#include <string_view>

namespace kw {

/// Length of the UTF-8 sequence at the start of the text, or 0 when there is no valid one.
size_t utf8_length(std::string_view text);

}  // namespace kw
