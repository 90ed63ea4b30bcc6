// Words that another process wrote, before a person or a log sees them.
#pragma once

#include <string>
#include <string_view>

namespace kw {

/// The text in one line: control characters and newlines become blanks, bytes that are not UTF-8
/// become U+FFFD, and what follows after 300 bytes is left out. So it cannot look like a line that
/// we wrote.
std::string one_line(std::string_view text);

}  // namespace kw
