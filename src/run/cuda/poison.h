// The pattern that fills memory before a run. It is NaN in every float type, differs in every run,
// and is never a NaN that the hardware makes. If it is still there afterwards, the kernel did not
// write there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace kw::cuda {

/// Four bytes, little endian, repeated from a 4-byte boundary. With `uniform`, every element of the
/// type has the same value at any address (needed when elements are not adjacent).
uint32_t poison_pattern(tensor::DType dtype, uint64_t seed, bool uniform = false);

/// Elements of a dense tensor that still hold the pattern. `phase` is the address of its first byte
/// modulo 4. Only runs that cannot be a coincidence count: single elements of 4 bytes or 2-byte
/// floats, longer runs of narrower types.
struct Unwritten {
  int64_t count = 0;
  int64_t first = -1;  // element index
};
Unwritten find_unwritten(tensor::DType dtype, std::span<const std::byte> dense, uint32_t pattern,
                         unsigned phase);

/// The first byte of `bytes` that differs from the pattern, or its size. `phase` as above.
size_t first_unlike(std::span<const std::byte> bytes, uint32_t pattern, unsigned phase);

}  // namespace kw::cuda
