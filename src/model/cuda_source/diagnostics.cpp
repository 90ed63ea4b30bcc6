#include "cuda_source/diagnostics.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::cuda_source {

namespace {

constexpr int kWidth = 160;  // of the shown part of a source line

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Blanks with the display width of `text`: tabs stay tabs, a multi-byte character takes one column.
std::string padding(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!continues_character(c)) out += c == '\t' ? '\t' : ' ';
  }
  return out;
}

// The source line with a caret under the place. A very long line is cut to a window around the
// place.
std::string snippet(std::string_view line, const Diagnostic& diagnostic) {
  const size_t at = std::min(static_cast<size_t>(std::max(diagnostic.column - 1, 0)), line.size());
  size_t begin = at > static_cast<size_t>(kWidth - 40) ? at - static_cast<size_t>(kWidth - 60) : 0;
  while (begin > 0 && continues_character(line[begin])) --begin;
  size_t end = std::min(line.size(), begin + kWidth);
  while (end < line.size() && continues_character(line[end])) ++end;
  const std::string_view shown = line.substr(begin, end - begin);
  const size_t length = std::clamp<size_t>(static_cast<size_t>(std::max(diagnostic.length, 1)), 1,
                                           std::max<size_t>(end - at, 1));
  const std::string underline(padding(line.substr(at, length)).size(), '~');
  return fmt::format("  {}\n  {}^{}\n", printable(shown), padding(line.substr(begin, at - begin)),
                     underline.empty() ? "" : underline.substr(1));
}

}  // namespace

std::string render_diagnostics(const std::vector<Diagnostic>& diagnostics, std::string_view text,
                               const std::string& file_name) {
  const std::vector<std::string_view> lines = split_lines(text);
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.line == 0) {
      out += fmt::format("{}: error: {}\n", file_name, diagnostic.message);
    } else {
      out += fmt::format("{}:{}:{}: error: {}\n", file_name, diagnostic.line, diagnostic.column,
                         diagnostic.message);
    }
    if (diagnostic.line >= 1 && static_cast<size_t>(diagnostic.line) <= lines.size()) {
      out += snippet(lines[static_cast<size_t>(diagnostic.line) - 1], diagnostic);
    }
    if (!diagnostic.hint.empty()) out += fmt::format("  hint: {}\n", diagnostic.hint);
  }
  return out;
}

}  // namespace kw::cuda_source
