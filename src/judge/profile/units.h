// Converts units of profilers to those of canonical metrics. An unknown unit is refused, never
// guessed.
#pragma once

#include <optional>
#include <string_view>

#include "catalog/metric.h"

namespace kw::profile {

struct ProfilerUnit {
  /// The kind of quantity. Rate is bytes per time, which no canonical metric uses.
  enum class Kind : unsigned char { Percent, Time, Bytes, Plain, Rate };
  Kind kind = Kind::Plain;
  double scale = 1;  // factor to %, us, bytes or 1
};

/// "%", "nsecond", "us", "Kbyte/block", "inst/cycle", "" …; not set: unknown.
std::optional<ProfilerUnit> parse_unit(std::string_view text);
/// Whether a metric in this unit can take values of that kind.
bool fits(const ProfilerUnit& unit, catalog::Unit wanted);

}  // namespace kw::profile
