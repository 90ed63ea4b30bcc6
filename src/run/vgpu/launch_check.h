// Checks whether a device accepts a launch, and computes the number of its blocks that run at once.
#pragma once

#include <string>
#include <vector>

#include "arch/arch.h"
#include "kernel/program.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Every problem of the launch; empty when it can run. `code` is null when the image has no such
/// entry.
std::vector<std::string> launch_problems(const arch::Target& target, const kernel::Program& program,
                                         const kernel::Launch& launch, const Code* code,
                                         int registers);

/// Resident blocks on the whole device, at least 1. `registers`: per thread, -1 when unknown.
uint64_t resident_blocks(const arch::Target& target, const kernel::Launch& launch, const Code& code,
                         int registers);

}  // namespace kw::vgpu
