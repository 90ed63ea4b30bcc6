// Which constants reach a comparison of compiled code through registers, and which loaded values
// make a comparison with a constant equal. Internal to immediates.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ptx_module.h"

namespace kw::inputs {

/// A constant of a type, as its bits; integers are sign-extended.
struct TypedConstant {
  uint64_t bits = 0;
  ptx::Type type = ptx::Type::None;
};

/// Constants that code compares something with, beyond those that stand in the comparison: they
/// come through moves, choices, loops, arithmetic on constants, small initialised tables, and the
/// usual block sizes. Then the solutions of comparisons with a loaded value at most two operations
/// back (x * 3 + 1 == 7). At most a few dozen.
std::vector<TypedConstant> flowing_constants(const ptx::Module& module,
                                             const ptx::Function& function);

}  // namespace kw::inputs
