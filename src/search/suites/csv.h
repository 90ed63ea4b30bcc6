// Comma-separated values as RFC 4180 has them: quotes where needed, doubled inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::suites {

/// One line with its newline.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvRecord {
  int line = 0;  // on which it starts, from 1
  std::vector<std::string> cells;
};
/// Blank lines are skipped, '\r' before '\n' as well; cells in quotes may hold newlines. The input
/// Error names the line of a quote that never ends or ends inside a cell.
Result<std::vector<CsvRecord>> parse_csv(std::string_view text);

}  // namespace kw::suites
