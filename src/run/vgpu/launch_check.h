// Whether a device would accept a launch at all, and how many of its blocks run at once.
#pragma once

#include <string>
#include <vector>

#include "arch/arch.h"
#include "kernel/program.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Everything wrong with the launch; empty when it can run. `code` is null when the image has no
/// such entry.
std::vector<std::string> launch_problems(const arch::Target& target, const kernel::Program& program,
                                         const kernel::Launch& launch, const Code* code,
                                         int registers);

/// Blocks on the whole device at once, at least 1. `registers`: per thread, -1 when unknown.
uint64_t resident_blocks(const arch::Target& target, const kernel::Launch& launch, const Code& code,
                         int registers);

}  // namespace kw::vgpu
