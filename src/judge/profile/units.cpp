#include "profile/units.h"

#include <string>

#include "core/contains.h"
#include "core/text.h"

namespace kw::profile {
namespace {

using UnitKind = ProfilerUnit::Kind;

struct UnitRow {
  std::string_view name;
  UnitKind kind;
  double scale;
};

constexpr UnitRow kUnits[] = {
    {"%", UnitKind::Percent, 1},         {"nsecond", UnitKind::Time, 1e-3},
    {"ns", UnitKind::Time, 1e-3},        {"usecond", UnitKind::Time, 1},
    {"us", UnitKind::Time, 1},           {"msecond", UnitKind::Time, 1e3},
    {"ms", UnitKind::Time, 1e3},         {"second", UnitKind::Time, 1e6},
    {"s", UnitKind::Time, 1e6},          {"sec", UnitKind::Time, 1e6},
    {"byte", UnitKind::Bytes, 1},        {"bytes", UnitKind::Bytes, 1},
    {"B", UnitKind::Bytes, 1},           {"Kbyte", UnitKind::Bytes, 1e3},
    {"KB", UnitKind::Bytes, 1e3},        {"Mbyte", UnitKind::Bytes, 1e6},
    {"MB", UnitKind::Bytes, 1e6},        {"Gbyte", UnitKind::Bytes, 1e9},
    {"GB", UnitKind::Bytes, 1e9},        {"Tbyte", UnitKind::Bytes, 1e12},
    {"TB", UnitKind::Bytes, 1e12},       {"KiB", UnitKind::Bytes, 1024.0},
    {"MiB", UnitKind::Bytes, 1048576.0},
};

// Things that are counted. "Kinst" and "Msector" are thousands and millions of them.
constexpr std::string_view kThings[] = {
    "",       "inst",     "instruction", "sector",    "request",   "req",   "block",
    "thread", "register", "warp",        "cycle",     "wave",      "sm",    "SM",
    "sample", "group",    "launch",      "scheduler", "wavefront", "count", "access",
    "ratio",  "branch",   "branche",     "cluster",   "pass"};

std::optional<double> plain_scale(std::string_view name) {
  const auto thing = [](std::string_view text) {
    if (text.size() > 2 && text.ends_with("s") && !text.ends_with("ss")) text.remove_suffix(1);
    return contains(kThings, text);
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
  if (const auto scale = plain_scale(name)) return ProfilerUnit{UnitKind::Plain, *scale};
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
  if (above->kind == UnitKind::Bytes && below->kind == UnitKind::Time)
    return ProfilerUnit{UnitKind::Rate, above->scale / below->scale * 1e6};
  // A quantity per block, thread, request or cycle keeps its kind.
  if (below->kind == UnitKind::Plain && below->scale == 1) return above;
  if (below->kind == UnitKind::Time)
    return ProfilerUnit{UnitKind::Rate, above->scale / below->scale * 1e6};
  return std::nullopt;
}

bool fits(const ProfilerUnit& unit, catalog::Unit wanted) {
  switch (wanted) {
    case catalog::Unit::Percent:
      return unit.kind == UnitKind::Percent;
    case catalog::Unit::Microseconds:
      return unit.kind == UnitKind::Time;
    case catalog::Unit::Bytes:
      return unit.kind == UnitKind::Bytes;
    case catalog::Unit::Count:
    case catalog::Unit::Ratio:
      return unit.kind == UnitKind::Plain;
    case catalog::Unit::Flag:
      return false;
  }
  return false;
}

}  // namespace kw::profile
