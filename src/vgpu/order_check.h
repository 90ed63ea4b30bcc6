// Compares two runs of one program that differ only in the order of blocks and warps.
#pragma once

#include <optional>

#include "exec/device.h"
#include "kernel/program.h"

namespace kw::vgpu {

/// The first output that differs, as a finding; a warning when float atomics explain it by
/// rounding.
std::optional<record::Finding> compare_orders(const kernel::Program& program,
                                              const exec::RunOutcome& natural,
                                              const exec::RunOutcome& permuted, bool float_atomics);

}  // namespace kw::vgpu
