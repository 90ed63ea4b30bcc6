// All rows of all x86-64 levels, found by level and name or by index. Internal to this module;
// tests use it to run one instruction on every level this CPU has.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "isa/rows.h"

namespace kw::isa {

enum class Level : uint8_t { V2, V3, V4 };

/// The levels this CPU can run, lowest first.
std::vector<Level> supported_levels();
/// The highest of them, decided once.
Level best_level();

/// Position of a row in the whole table; fits in kRowIndexBits.
std::optional<uint32_t> find_row(Level level, std::string_view name);
const Row& row_at(uint32_t index);
inline constexpr uint32_t kRowIndexBits = 13;

/// Names of one level's rows, in table order.
std::vector<std::string_view> row_names(Level level);

/// find_alu for a given level.
Result<Alu> find_alu_at(Level level, const ptx::Instruction& instruction,
                        const ptx::Function& function);

}  // namespace kw::isa
