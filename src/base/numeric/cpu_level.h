// The x86-64 levels for which some sources are compiled, and those that this CPU can run.
#pragma once

#include <cstdint>
#include <vector>

namespace kw::numeric {

enum class CpuLevel : uint8_t { V2, V3, V4 };

/// The levels that this CPU can run, lowest first.
std::vector<CpuLevel> supported_levels();
/// The highest supported level, determined once.
CpuLevel best_level();

}  // namespace kw::numeric
