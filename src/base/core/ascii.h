// Classes of ASCII characters. isalnum() and its kind follow the locale of the process, which a
// Python program that loads our library may have set.
#pragma once

namespace kw {

constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_ascii_alnum(char c) { return is_ascii_letter(c) || (c >= '0' && c <= '9'); }
/// Part of a name in C, Python and PTX without their special signs.
constexpr bool is_name_char(char c) { return is_ascii_alnum(c) || c == '_'; }

}  // namespace kw
