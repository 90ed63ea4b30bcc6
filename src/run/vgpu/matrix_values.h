// Elements of the matrices that tensor cores multiply.
#pragma once

#include <cstddef>

#include "ptx/ptx_module.h"

namespace kw::vgpu {

double element_value(ptx::Type type, const std::byte* p);
/// The same for `count` elements that lie one after the other.
void element_values(ptx::Type type, const std::byte* p, int count, double* out);
/// Rounds the value to the type of a sum and stores it.
void store_value(ptx::Type type, double value, bool saturate, std::byte* p);

}  // namespace kw::vgpu
