// What one pass over a graph computes.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace kw::truth {

enum class Mode : uint8_t {
  Truth,     // fp64 values and their errors; nothing is rounded
  Declared,  // every node rounded to its dtype, sums in fp32: like an unfused run
  HalfOnly   // fp64, only half types rounded, without overflow: the effect of half roundings alone
};

/// Returns whether sums of this type are computed in fp32.
bool sums_in_float(Mode mode, tensor::DType type);
/// Returns a computed value as a node of this float type stores it.
double stored_value(Mode mode, tensor::DType type, double value);

}  // namespace kw::truth
