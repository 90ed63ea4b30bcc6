// Reads and writes runs of numbers in the storage of a tensor. For fp4e2m1x2, positions count
// single values, two per byte.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/host_tensor.h"

namespace kw::tensor {

/// Writes doubles into a float tensor from value position `start`, each rounded once to nearest
/// even. A finite value too large for an fp8 or fp4 type becomes its largest value. An infinity
/// stays infinite if the type has one.
void store_floats(HostTensor& tensor, int64_t start, std::span<const double> values);

/// Reads any tensor as doubles, from value position `start`. 64-bit integers beyond 2^53 are
/// rounded.
void load_values(const HostTensor& tensor, int64_t start, std::span<double> values);

/// Writes one element of an integer or bool tensor, keeping the low bits.
void store_int(HostTensor& tensor, int64_t index, int64_t value);

/// The number of single values in the tensor: its elements, or twice that for fp4e2m1x2.
int64_t value_count(const HostTensor& tensor);

}  // namespace kw::tensor
