// Moves lane data between registers and memory: one function per element width, register width and
// vector length, in the best version for this CPU. No checks here.
#pragma once

#include "vgpu/inst.h"

namespace kw::vgpu {

/// Fills in `mem.row` and `mem.lanes`; false when no register layout of that kind exists.
bool choose_moves(MemOp& mem);

/// Whether the machine knows this atomic on this type.
bool atomic_supported(AtomicOp op, ptx::Type type);

}  // namespace kw::vgpu
