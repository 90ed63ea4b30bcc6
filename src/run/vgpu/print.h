// printf and assert inside kernels.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// vprintf(format, arguments) for each lane, in lane order. The text is appended to
/// Machine::printed, which is bounded.
void print_lanes(Machine& m, Warp& w, uint32_t pc, uint32_t mask);
/// __assertfail(message, file, line, function, size): a finding that ends the run.
void assert_fail(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
