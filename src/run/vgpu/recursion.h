// Activations of functions that call themselves: what the next one would overwrite is kept aside,
// lane by lane.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;
struct ActivationFrame;

/// Before a recursive call: keeps the caller's slots. Ends the run when a lane has gone too deep.
void save_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask);
/// After it returned.
void restore_frame(Machine& m, Warp& w, const ActivationFrame& frame, uint32_t mask);
/// At the start of a function whose local variables live on a stack; and at its end.
void enter_frame(Machine& m, Warp& w, uint32_t pc, const ActivationFrame& frame, uint32_t mask);
void leave_frame(Machine& m, Warp& w, uint32_t bytes, uint32_t mask);

}  // namespace kw::vgpu
