// Activations of recursive functions: saves what the next activation would overwrite, lane by lane.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;
struct ActivationFrame;

/// Before a recursive call: saves the caller's slots. Ends the run when a lane's stack overflows.
void save_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask);
/// After the call returned: restores the caller's slots.
void restore_frame(Machine& m, Warp& w, const ActivationFrame& frame, uint32_t mask);
/// At the start and at the end of a function whose local variables are on a stack.
void enter_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask);
void leave_frame(Machine& m, Warp& w, uint32_t bytes, uint32_t mask);

}  // namespace kw::vgpu
