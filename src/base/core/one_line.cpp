#include "core/one_line.h"

#include "core/text.h"

namespace kw {

std::string one_line(std::string_view text) {
  constexpr size_t kMost = 300;
  std::string line = printable(trim(text));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (line.size() <= kMost) return line;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

}  // namespace kw
