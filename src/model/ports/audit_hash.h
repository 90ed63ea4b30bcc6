// The hash by which timed outputs are compared with verified ones. The same function runs as a
// trusted kernel on the device (cuda/jobs), so a timed output never has to leave it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kw::ports {

/// Of dense bytes: the sum over 8-byte little-endian words (the last padded with zeros) of a mix of
/// word, position and seed. A sum, so that blocks of a grid may add their parts in any order.
uint64_t audit_hash(std::span<const std::byte> bytes, uint64_t seed = 0);

/// One word's part of that sum; `index` counts words from 0.
inline uint64_t audit_mix(uint64_t word, uint64_t index, uint64_t seed) {
  uint64_t x = (word ^ seed) * 0x9fb21c651e98df25u;
  x ^= x >> 32;
  x += (index + 1) * 0x9e3779b97f4a7c15u;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace kw::ports
