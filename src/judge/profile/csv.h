// Comma-separated values as profilers print them: quoted cells, doubled quotes, line breaks inside
// quotes. Text to cells only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::profile {

using CsvRow = std::vector<std::string>;

/// Blame::Input when a quote is never closed. Rows may differ in length; empty lines are left out.
Result<std::vector<CsvRow>> parse_csv(std::string_view text);

/// How numbers of one file are written: the locale of whoever ran the profiler decides.
enum class Decimal : unsigned char { Point, Comma };
/// What the cells show; Blame::Input when some can only be read one way and some only the other.
Result<Decimal> decimal_of(const std::vector<std::string_view>& cells);
/// "1,234.5", "1.234,5", "1 234,5", "1e3"; nothing for anything else ("n/a", "nan", "inf", "").
std::optional<double> parse_number(std::string_view cell, Decimal decimal);

}  // namespace kw::profile
