// Reads or writes one piece of memory with every check. Single lanes and matrix instructions share
// it.
#pragma once

#include "vgpu/races.h"
#include "vgpu/resolve.h"

namespace kw::vgpu {

/// Reads access.bytes into `value`. Returns true when some bits are undefined; those are set in
/// `bits`.
bool read_piece(Machine& m, const LaneAccess& access, const Target& target, std::byte* value,
                std::byte* bits);
/// Stores access.value; `bits` marks its undefined bits.
void write_piece(Machine& m, const LaneAccess& access, const Target& target, const std::byte* bits);

}  // namespace kw::vgpu
