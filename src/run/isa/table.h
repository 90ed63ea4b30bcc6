// All rows of all x86-64 levels, found by level and name or by index. Internal to this module.
// Tests use it to run one instruction on every level of this CPU.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "isa/rows.h"
#include "numeric/cpu_level.h"

namespace kw::isa {

using Level = numeric::CpuLevel;

/// The index of a row in the whole table; it fits in kRowIndexBits.
std::optional<uint32_t> find_row(Level level, std::string_view name);
const Row& row_at(uint32_t index);
inline constexpr uint32_t kRowIndexBits = 13;

/// The names of one level's rows, in table order.
std::vector<std::string_view> row_names(Level level);

/// find_alu for a given level.
Result<Alu> find_alu_at(Level level, const ptx::Instruction& instruction,
                        const ptx::Function& function);

}  // namespace kw::isa
