// cp.async: copies from global to shared memory that land when they are waited for.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Reads the source now and keeps the bytes in flight: until the wait, shared memory holds what it
/// held before.
void async_copy(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
void async_commit(Machine& m, Warp& w, uint32_t mask);
void async_wait(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
