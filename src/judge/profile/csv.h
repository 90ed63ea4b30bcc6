// Reads comma-separated values as profilers print them: quoted cells, doubled quotes, line breaks
// inside quotes. Turns text into cells and does not interpret them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::profile {

using CsvRow = std::vector<std::string>;

/// Blame::Input when a quote is never closed. Rows may differ in length; empty lines are skipped.
Result<std::vector<CsvRow>> parse_csv(std::string_view text);

/// How numbers in one file are written. The locale of the profiler's user decides.
enum class Decimal : unsigned char { Point, Comma };
/// The mark that the cells prove. Blame::Input when some cells prove one mark and some the other.
Result<Decimal> decimal_of(const std::vector<std::string_view>& cells);
/// "1,234.5", "1.234,5", "1 234,5", "1e3"; not set for other text ("n/a", "nan", "inf", "").
std::optional<double> parse_number(std::string_view cell, Decimal decimal);

}  // namespace kw::profile
