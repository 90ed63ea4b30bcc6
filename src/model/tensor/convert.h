// Runs of numbers in and out of a tensor's storage. For fp4e2m1x2, positions count single values,
// two per byte.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/host_tensor.h"

namespace kw::tensor {

/// Writes doubles into a float tensor at value positions start…, each rounded once to nearest even.
/// Finite values too large for an fp8 or fp4 type become its largest; an infinity stays one where
/// the type has it.
void store_floats(HostTensor& tensor, int64_t start, std::span<const double> values);

/// Reads any tensor as doubles, from value position `start`. 64-bit integers beyond 2^53 are
/// rounded.
void load_values(const HostTensor& tensor, int64_t start, std::span<double> values);

/// Writes one element of an integer or bool tensor, keeping the low bits.
void store_int(HostTensor& tensor, int64_t index, int64_t value);

/// How many single values the tensor holds: its elements, twice that for fp4e2m1x2.
int64_t value_count(const HostTensor& tensor);

}  // namespace kw::tensor
