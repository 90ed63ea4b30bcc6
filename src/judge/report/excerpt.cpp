#include "report/excerpt.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text.h"

namespace kw::report {

namespace {

constexpr size_t kWidest = 160;  // longer lines are cut; generated lines can be very long

// A tab would misplace the underline.
std::string shown_line(std::string_view line) {
  std::string out = replace_all(printable(line.substr(0, kWidest)), "\t", "  ");
  return line.size() > kWidest ? out + "…" : out;
}

size_t display_column(std::string_view line, size_t byte) {
  size_t column = 0;
  for (const char c : line.substr(0, std::min(byte, kWidest))) {
    column += c == '\t' ? 2 : ((static_cast<unsigned char>(c) & 0xc0) == 0x80 ? 0 : 1);
  }
  return column;
}

// The end of a line's code, before a trailing comment and blanks. A "//" inside a string shortens
// the underline, which is harmless.
size_t code_end(std::string_view line, size_t first) {
  const size_t comment = line.find("//", first);
  std::string_view code = line;
  if (comment != std::string_view::npos && comment > first) code = line.substr(0, comment);
  return std::min(code.find_last_not_of(" \t\r"), kWidest - 1) + 1;
}

std::string underline(std::string_view line, const Mark& mark) {
  if (mark.column > 0)
    return std::string(display_column(line, static_cast<size_t>(mark.column) - 1), ' ') + "^";
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "^";
  const size_t start = display_column(line, first);
  const size_t end = std::max(display_column(line, code_end(line, first)), start + 1);
  return std::string(start, ' ') + std::string(end - start, '^');
}

}  // namespace

std::string excerpt(std::string_view text, std::vector<Mark> marks, const Style& style) {
  const std::vector<std::string_view> lines = split_lines(text);
  const int count = static_cast<int>(lines.size());
  std::erase_if(marks, [&](const Mark& mark) { return mark.line < 1 || mark.line > count; });
  if (marks.empty()) return "";
  std::set<int> shown;
  for (const Mark& mark : marks) {
    for (int line = std::max(1, mark.line - 1); line <= std::min(count, mark.line + 1); ++line)
      shown.insert(line);
  }
  const int digits = static_cast<int>(std::to_string(*shown.rbegin()).size());
  const std::string gutter =
      paint(style, Paint::Dim, std::string(static_cast<size_t>(digits), ' ') + " |");
  std::string out = "  " + gutter + "\n";
  int previous = *shown.begin() - 1;
  for (const int number : shown) {
    if (number > previous + 1) out += "  " + paint(style, Paint::Dim, "...") + "\n";
    previous = number;
    const std::string_view line = lines[static_cast<size_t>(number) - 1];
    std::string row = "  " + paint(style, Paint::Dim, fmt::format("{:>{}} |", number, digits)) +
                      " " + shown_line(line);
    out += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    for (const Mark& mark : marks) {
      if (mark.line != number) continue;
      const std::string below =
          underline(line, mark) + (mark.label.empty() ? "" : " " + mark.label);
      out += "  " + gutter + " " + paint(style, mark.paint, below) + "\n";
    }
  }
  return out;
}

std::string location(const std::string& file, int line, int column) {
  std::string out = "--> " + file;
  if (line > 0) out += fmt::format(":{}", line);
  if (line > 0 && column > 0) out += fmt::format(":{}", column);
  return out;
}

}  // namespace kw::report
