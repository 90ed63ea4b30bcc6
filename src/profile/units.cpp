#include "profile/units.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace kw::profile {
namespace {

using Kind = ProfilerUnit::Kind;

struct UnitRow {
  std::string_view name;
  Kind kind;
  double scale;
};

constexpr UnitRow kUnits[] = {
    {"%", Kind::Percent, 1},      {"nsecond", Kind::Time, 1e-3},   {"ns", Kind::Time, 1e-3},
    {"usecond", Kind::Time, 1},   {"us", Kind::Time, 1},           {"msecond", Kind::Time, 1e3},
    {"ms", Kind::Time, 1e3},      {"second", Kind::Time, 1e6},     {"s", Kind::Time, 1e6},
    {"sec", Kind::Time, 1e6},     {"byte", Kind::Bytes, 1},        {"bytes", Kind::Bytes, 1},
    {"B", Kind::Bytes, 1},        {"Kbyte", Kind::Bytes, 1e3},     {"KB", Kind::Bytes, 1e3},
    {"Mbyte", Kind::Bytes, 1e6},  {"MB", Kind::Bytes, 1e6},        {"Gbyte", Kind::Bytes, 1e9},
    {"GB", Kind::Bytes, 1e9},     {"Tbyte", Kind::Bytes, 1e12},    {"TB", Kind::Bytes, 1e12},
    {"KiB", Kind::Bytes, 1024.0}, {"MiB", Kind::Bytes, 1048576.0},
};

// Things that are counted; "Kinst", "Msector" are thousands and millions of them.
constexpr std::string_view kThings[] = {"",      "inst",   "instruction", "sector",    "request",
                                        "block", "thread", "register",    "warp",      "cycle",
                                        "wave",  "SM",     "sample",      "scheduler", "waves",
                                        "group", "launch", "ratio",       "count",     "wavefront"};

std::optional<double> plain_scale(std::string_view name) {
  const auto thing = [](std::string_view text) {
    return std::ranges::find(kThings, text) != std::end(kThings);
  };
  if (thing(name)) return 1.0;
  const std::string_view rest = name.substr(1);
  if (rest.empty() || !thing(rest)) return std::nullopt;
  switch (name.front()) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    default:
      return std::nullopt;
  }
}

std::optional<ProfilerUnit> simple_unit(std::string_view name) {
  for (const UnitRow& row : kUnits) {
    if (row.name == name) return ProfilerUnit{row.kind, row.scale};
  }
  if (const auto scale = plain_scale(name)) return ProfilerUnit{Kind::Plain, *scale};
  return std::nullopt;
}

}  // namespace

std::optional<ProfilerUnit> parse_unit(std::string_view text) {
  text = trim(text);
  if (text == "n/a" || text == "none") text = "";
  const size_t slash = text.find('/');
  const auto above = simple_unit(text.substr(0, slash));
  if (slash == std::string_view::npos || !above) return above;
  const auto below = simple_unit(trim(text.substr(slash + 1)));
  if (!below) return std::nullopt;
  if (above->kind == Kind::Bytes && below->kind == Kind::Time)
    return ProfilerUnit{Kind::Rate, above->scale / below->scale * 1e6};
  // Something per block, thread, request or cycle is still that something.
  if (below->kind == Kind::Plain && below->scale == 1) return above;
  if (below->kind == Kind::Time) return ProfilerUnit{Kind::Rate, above->scale / below->scale * 1e6};
  return std::nullopt;
}

bool fits(const ProfilerUnit& unit, catalog::Unit wanted) {
  switch (wanted) {
    case catalog::Unit::Percent:
      return unit.kind == Kind::Percent;
    case catalog::Unit::Microseconds:
      return unit.kind == Kind::Time;
    case catalog::Unit::Bytes:
      return unit.kind == Kind::Bytes;
    case catalog::Unit::Count:
    case catalog::Unit::Ratio:
      return unit.kind == Kind::Plain;
    case catalog::Unit::Flag:
      return false;
  }
  return false;
}

}  // namespace kw::profile
