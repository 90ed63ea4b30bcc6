// Block barriers: who arrived, when they open, what they order, and what is wrong when they never
// do.
#pragma once

#include "vgpu/machine.h"
#include "vgpu/pool.h"

namespace kw::vgpu {

/// Opens the barriers of the running block that are complete.
bool open_ready(Machine& m);
/// No warp of the running block can go on. Opens what a strict reader of the rules would not
/// (reporting it); false when the block is stuck for good, which is then reported.
bool settle(Machine& m);

}  // namespace kw::vgpu
