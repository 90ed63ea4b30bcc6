// Compares two runs of one program that differ only in the order of blocks and warps.
#pragma once

#include <optional>

#include "kernel/program.h"
#include "ports/device.h"

namespace kw::vgpu {

/// The first output that differs, as a finding. It is a warning when rounding explains the
/// difference.
std::optional<record::Finding> compare_orders(const kernel::Program& program,
                                              const ports::RunOutcome& natural,
                                              const ports::RunOutcome& permuted);

}  // namespace kw::vgpu
