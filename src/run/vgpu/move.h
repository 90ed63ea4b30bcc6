// Moves lane data between registers and memory. There is one function per element width, register
// width and vector length, in the best version for this CPU. It checks nothing.
#pragma once

#include "vgpu/inst.h"

namespace kw::vgpu {

/// Sets `mem.row` and `mem.lanes`. Returns false when no such register layout exists.
bool choose_moves(MemOp& mem);

}  // namespace kw::vgpu
