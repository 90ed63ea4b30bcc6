// cp.async: copies from global to shared memory that complete when the kernel waits for them.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Reads the source now and keeps the bytes pending. Until the wait, shared memory keeps its old
/// bytes.
void async_copy(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
void async_commit(Machine& m, Warp& w, uint32_t mask);
void async_wait(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
