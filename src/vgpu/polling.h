// Recognises warps that wait for others by looking at memory again and again.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// A strong load, failed atomic or sleep at `pc` saw `value`. Marks the warp as spinning when
/// nothing changes.
void poll(Machine& m, Warp& w, uint32_t pc, uint64_t address, uint64_t value);

}  // namespace kw::vgpu
