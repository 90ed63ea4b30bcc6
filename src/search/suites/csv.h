// Reads and writes comma-separated values as in RFC 4180: quotes if needed, doubled inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::suites {

/// One line with its newline.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvRecord {
  int line = 0;  // the line on which it starts, from 1
  std::vector<std::string> cells;
};
/// Skips blank lines and '\r' before '\n'. Quoted cells may contain newlines. The input Error names
/// the line of a quote that never ends or ends inside a cell.
Result<std::vector<CsvRecord>> parse_csv(std::string_view text);

}  // namespace kw::suites
