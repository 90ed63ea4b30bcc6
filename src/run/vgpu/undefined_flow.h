// Where undefined bits of registers that were never written can reach. Compilers leave registers
// undefined on paths where they are not used, and few instructions ever meet them.
#pragma once

#include <vector>

#include "vgpu/registers.h"

namespace kw::vgpu {

/// For every instruction, whether none of its registers can hold undefined bits that were there
/// when the function started. Empty: nothing is known. Undefined bits from memory, from other lanes
/// and of quotients are not considered.
std::vector<bool> defined_instructions(const ptx::Function& function,
                                       std::span<const RegisterUse> uses, const RegisterPlan& plan);

}  // namespace kw::vgpu
