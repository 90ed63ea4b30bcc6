// What a pass over a graph computes.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace kw::truth {

enum class Mode : uint8_t {
  Truth,     // fp64 beside its errors; nothing is rounded
  Declared,  // every node rounded to its dtype, sums in fp32: what an unfused run gives
  HalfOnly   // fp64, only half types are rounded: what the declared half roundings alone do
};

/// Whether sums of this type are taken in fp32.
bool sums_in_float(Mode mode, tensor::DType type);
/// A computed value as a node of this float type holds it.
double settled(Mode mode, tensor::DType type, double value);

}  // namespace kw::truth
