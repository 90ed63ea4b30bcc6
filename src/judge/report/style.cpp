#include "report/style.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/utf8.h"

namespace kw::report {

namespace {

const char* code_of(Paint paint) {
  constexpr const char* kCodes[] = {"\033[1;31m", "\033[1;33m", "\033[32m", "\033[2m", "\033[1m"};
  return kCodes[static_cast<size_t>(paint)];
}

// The display width: UTF-8 continuation bytes take no column.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string padded(const std::string& cell, size_t width, bool right) {
  const std::string blanks(width - std::min(width, columns_of(cell)), ' ');
  return right ? blanks + cell : cell + blanks;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::string paint(const Style& style, Paint paint, std::string_view text) {
  if (!style.colour || text.empty()) return std::string(text);
  return code_of(paint) + std::string(text) + "\033[0m";
}

std::string with_commas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.4g}", value);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string Table::text(const Style& style, int indent) const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const std::string& title : titles_) {
    titles.push_back(title.substr(title.starts_with('>') ? 1 : 0));
    widths.push_back(columns_of(titles.back()));
  }
  for (const auto& row : rows_) {
    KW_CHECK(row.size() == titles.size(), "one cell per column");
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string out;
  const auto put = [&](const std::vector<std::string>& cells, bool title) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i)
      line += (i > 0 ? "  " : "") + padded(cells[i], widths[i], titles_[i].starts_with('>'));
    trim_end(line);
    if (line.empty()) return;
    out += std::string(static_cast<size_t>(indent), ' ') +
           (title ? paint(style, Paint::Dim, line) : line) + "\n";
  };
  put(titles, true);
  for (const auto& row : rows_) put(row, false);
  return out;
}

}  // namespace kw::report
