// Assigns a function's registers to places in the warp's register file. Registers whose lifetimes
// do not overlap share bytes. NVVM names thousands, a few dozen are live at once, and a small file
// stays in the first-level cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/ptx_module.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Bytes per lane of a register's slot (8-bit registers take 2); 0 for predicates.
int register_width(ptx::Type type);
/// Bytes of a whole slot of that width: 32 lanes, or one mask.
uint32_t slot_bytes(int width);

/// How instruction i uses registers: the leading operands that it writes, and the condition code.
struct RegisterUse {
  int destinations = 0;
  bool reads_carry = false, writes_carry = false;
  bool is_alu = false;
};

struct RegisterPlan {
  std::vector<uint32_t> offsets;  // per register, absolute
  uint32_t end = 0;
  std::vector<SavedSlot> undefined;  // slots that a lane may read before it has written them
  bool carry_undefined = false;      // the same for the condition code
  int first_undefined = -1;          // the first instruction that reads one of them
};

/// Offsets start at `begin`.
RegisterPlan plan_registers(const ptx::Function& function, std::span<const RegisterUse> uses,
                            uint32_t begin);

}  // namespace kw::vgpu
