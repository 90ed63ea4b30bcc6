// The pattern that fills what a candidate must write and what it must not touch. A NaN in every
// float type, different for every run, and never a NaN that hardware makes itself: if it is seen
// afterwards, nobody wrote there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace kw::cuda {

/// Four bytes, little endian, repeated from a 4-byte boundary. With `uniform`, every element of the
/// type reads the same wherever it lies (needed where elements are not neighbours).
uint32_t poison_pattern(tensor::DType dtype, uint64_t seed, bool uniform = false);

/// Elements of a dense tensor that still hold the pattern. `phase` is the address of its first byte
/// modulo 4. Only runs long enough not to be a coincidence count: single elements of 4 bytes or of
/// a float, longer runs of narrower integers.
struct Survivors {
  int64_t count = 0;
  int64_t first = -1;  // element index
};
Survivors find_survivors(tensor::DType dtype, std::span<const std::byte> dense, uint32_t pattern,
                         unsigned phase);

/// First byte of `bytes` that differs from the pattern, or its size. `phase` as above.
size_t first_unlike(std::span<const std::byte> bytes, uint32_t pattern, unsigned phase);

}  // namespace kw::cuda
