// Block barriers: which threads have arrived, when a barrier opens, what it orders, and the
// findings when it never opens.
#pragma once

#include "vgpu/machine.h"

namespace kw::vgpu {

/// Opens the complete barriers of the running block. Returns true when it opened one.
bool open_ready(Machine& m);
/// To be called when no warp of the running block can continue. Lets divergent lanes arrive at
/// their barriers, which CUDA does not allow, and reports that. Returns false when no barrier
/// opens: the block is stuck, which is reported too.
bool open_divergent(Machine& m);

}  // namespace kw::vgpu
