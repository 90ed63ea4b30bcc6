#include "profile/csv.h"

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace kw::profile {
namespace {

/// Reads one cell at `at` and moves `at` past it. False: a quote is never closed.
bool read_cell(std::string_view text, size_t& at, std::string& cell) {
  if (text[at] != '"') {
    const size_t end = std::min(text.find_first_of(",\n", at), text.size());
    cell = std::string(text.substr(at, end - at));
    if (!cell.empty() && cell.back() == '\r') cell.pop_back();
    at = end;
    return true;
  }
  for (++at; at < text.size(); ++at) {
    if (text[at] != '"') {
      cell += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      cell += text[at++];
    } else {
      ++at;
      // Text between the closing quote and the next comma is ignored.
      at = std::min(text.find_first_of(",\n", at), text.size());
      return true;
    }
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the characters that only group digits: blanks, no-break spaces and apostrophes.
std::string digits_of(std::string_view cell) {
  std::string text = replace_all(std::string(trim(cell)), "\xc2\xa0", "");
  text = replace_all(replace_all(text, "\xe2\x80\xaf", ""), "'", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

/// Whether `mark` splits the digits into groups of three after a first group of one to three.
bool grouped(std::string_view text, char mark) {
  const size_t first = text.find(mark);
  const size_t begin = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  if (first == std::string_view::npos || first == begin || first - begin > 3) return false;
  for (size_t at = first; at < text.size(); at += 4) {
    if (text[at] != mark || at + 3 >= text.size()) return false;
    if (!is_digit(text[at + 1]) || !is_digit(text[at + 2]) || !is_digit(text[at + 3])) return false;
  }
  return true;
}

bool looks_numeric(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit) &&
         text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
}

/// The decimal mark that one cell proves; not set when the cell proves neither.
std::optional<Decimal> evidence(std::string_view text) {
  const size_t comma = text.rfind(','), point = text.rfind('.');
  const bool has_comma = comma != std::string_view::npos;
  const bool has_point = point != std::string_view::npos;
  if (has_comma && has_point) return comma > point ? Decimal::Comma : Decimal::Point;
  if (!has_comma && !has_point) return std::nullopt;
  const char mark = has_comma ? ',' : '.';
  const bool many = std::count(text.begin(), text.end(), mark) > 1;
  if (many && !grouped(text, mark)) return std::nullopt;  // a version or a list, not a number
  if (many) return has_comma ? Decimal::Point : Decimal::Comma;
  if (!grouped(text, mark)) return has_comma ? Decimal::Comma : Decimal::Point;
  return std::nullopt;
}

}  // namespace

Result<std::vector<CsvRow>> parse_csv(std::string_view text) {
  std::vector<CsvRow> rows;
  size_t at = 0;
  while (at < text.size()) {
    CsvRow row;
    bool more = true;
    while (more) {
      std::string cell;
      if (at < text.size() && !read_cell(text, at, cell))
        return input_error("a quote is never closed: the file is cut off");
      row.push_back(std::move(cell));
      more = at < text.size() && text[at] == ',';
      at += at < text.size() ? 1 : 0;
    }
    if (row.size() > 1 || !trim(row.front()).empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Result<Decimal> decimal_of(const std::vector<std::string_view>& cells) {
  std::optional<Decimal> found;
  std::string by;
  for (const std::string_view cell : cells) {
    const std::string text = digits_of(cell);
    const auto says = looks_numeric(text) ? evidence(text) : std::nullopt;
    if (!says) continue;
    if (found && *found != *says) {
      return input_error("numbers of two kinds in one file: '" + by + "' and '" +
                         std::string(cell) + "'");
    }
    found = says;
    by = std::string(cell);
  }
  // Profilers group digits with commas, so the point is the default.
  return found.value_or(Decimal::Point);
}

std::optional<double> parse_number(std::string_view cell, Decimal decimal) {
  std::string text = digits_of(cell);
  if (!looks_numeric(text)) return std::nullopt;
  const char group = decimal == Decimal::Point ? ',' : '.';
  const char mark = decimal == Decimal::Point ? '.' : ',';
  const std::string whole = text.substr(0, text.find(mark));
  if (whole.find(group) != std::string::npos && !grouped(whole, group)) return std::nullopt;
  text.erase(std::remove(text.begin(), text.end(), group), text.end());
  std::replace(text.begin(), text.end(), mark, '.');
  if (text.starts_with("+-")) return std::nullopt;
  if (text.front() == '+') text.erase(0, 1);
  const auto value = parse_double(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace kw::profile
