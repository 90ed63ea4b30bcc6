// Units as profilers write them, turned into those of canonical metrics. A unit nobody knows is
// refused, never guessed.
#pragma once

#include <optional>
#include <string_view>

#include "catalog/metric.h"

namespace kw::profile {

struct ProfilerUnit {
  /// What kind of quantity it is; Rate: of bytes per time, which no canonical metric has.
  enum class Kind : unsigned char { Percent, Time, Bytes, Plain, Rate };
  Kind kind = Kind::Plain;
  double scale = 1;  // to %, us, bytes or one
};

/// "%", "nsecond", "us", "Kbyte/block", "inst/cycle", "" …; nothing: not known.
std::optional<ProfilerUnit> parse_unit(std::string_view text);
/// Whether values of that kind can be values of a metric in this unit.
bool fits(const ProfilerUnit& unit, catalog::Unit wanted);

}  // namespace kw::profile
