// Compares two runs of one program that differ only in the order of blocks and warps.
#pragma once

#include <optional>

#include "kernel/program.h"
#include "ports/device.h"

namespace kw::vgpu {

/// The first output that differs, as a finding; a warning when rounding explains it.
std::optional<record::Finding> compare_orders(const kernel::Program& program,
                                              const ports::RunOutcome& natural,
                                              const ports::RunOutcome& permuted);

}  // namespace kw::vgpu
