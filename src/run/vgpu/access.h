// One piece of memory moved with every check: what single lanes and matrix instructions have in
// common.
#pragma once

#include "vgpu/races.h"
#include "vgpu/resolve.h"

namespace kw::vgpu {

/// Reads access.bytes into `value`. True when some bits are undefined; those are set in `bits`.
bool read_piece(Machine& m, const LaneAccess& access, const Target& target, std::byte* value,
                std::byte* bits);
/// Stores access.value, of which `bits` are undefined.
void write_piece(Machine& m, const LaneAccess& access, const Target& target, const std::byte* bits);

}  // namespace kw::vgpu
