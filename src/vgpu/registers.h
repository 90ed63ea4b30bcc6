// Places a function's registers in the warp's register file. Registers whose lifetimes do not meet
// share bytes: NVVM names thousands, a few dozen are alive at once, and a small file stays in the
// first-level cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/module.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Bytes per lane of a register's slot (8-bit registers take 2); 0 for predicates.
int register_width(ptx::Type type);
/// Bytes of a whole slot of that width: 32 lanes, or one mask.
uint32_t slot_bytes(int width);

struct RegisterPlan {
  std::vector<uint32_t> offsets;  // per register, absolute
  uint32_t end = 0;
  std::vector<ByteRange> zeroed;  // slots a lane may read before writing
};

/// `destinations[i]`: how many leading operands instruction i writes. Offsets start at `begin`.
RegisterPlan plan_registers(const ptx::Function& function, std::span<const int> destinations,
                            uint32_t begin);

}  // namespace kw::vgpu
