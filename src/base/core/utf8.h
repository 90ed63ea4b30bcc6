// Finds the end of a UTF-8 sequence and checks that it is valid. It knows no character classes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kw {

/// Length of the UTF-8 sequence at the start of the text, or 0 when no valid one starts there.
size_t utf8_length(std::string_view text);

/// The bytes of a byte order mark, which some editors write at the start of a file.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// A byte that is not part of UTF-8 text, with its place; lines and columns count from 1, columns
/// in bytes.
struct BadByte {
  int line, column;
  unsigned value;
};

/// The first such byte; not set when the whole text is UTF-8.
std::optional<BadByte> find_bad_byte(std::string_view text);

}  // namespace kw
