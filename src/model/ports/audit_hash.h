// The hash that compares timed outputs with verified ones. A trusted kernel computes the same
// function on the device (cuda/jobs), so a timed output need not leave it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kw::ports {

/// Of dense bytes: a sum over 8-byte little-endian words (the last padded with zeros) of a mix of
/// word, position and seed. Blocks of a grid may add the parts of a sum in any order.
uint64_t audit_hash(std::span<const std::byte> bytes, uint64_t seed = 0);

/// The part of one word in that sum; `index` counts words from 0.
inline uint64_t audit_mix(uint64_t word, uint64_t index, uint64_t seed) {
  uint64_t x = (word ^ seed) * 0x9fb21c651e98df25u;
  x ^= x >> 32;
  x += (index + 1) * 0x9e3779b97f4a7c15u;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace kw::ports
