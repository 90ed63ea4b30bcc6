#include "core/utf8.h"

namespace kw {

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  // The second byte also excludes longer forms of short sequences, surrogates, and what lies beyond
  // U+10FFFF.
  const auto second = length < 2 ? 0U : static_cast<unsigned char>(text[1]);
  const bool valid = first == 0xe0   ? second >= 0xa0
                     : first == 0xed ? second < 0xa0
                     : first == 0xf0 ? second >= 0x90
                     : first == 0xf4 ? second < 0x90
                                     : true;
  return valid ? length : 0;
}

std::optional<BadByte> find_bad_byte(std::string_view text) {
  int line = 1;
  size_t begin = 0, at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const size_t length = byte < 0x80 ? 1 : utf8_length(text.substr(at));
    if (length == 0) return BadByte{line, static_cast<int>(at - begin) + 1, byte};
    at += length;
    if (byte != '\n') continue;
    ++line;
    begin = at;
  }
  return std::nullopt;
}

}  // namespace kw
