// Values of single lanes in slots of the register file, and a loop over the lanes of a mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kw::vgpu {

template <class T>
T get(const std::byte* file, uint32_t slot, int lane) {
  T value;
  std::memcpy(&value, file + slot + lane * static_cast<int>(sizeof(T)), sizeof value);
  return value;
}

template <class T>
void put(std::byte* file, uint32_t slot, int lane, T value) {
  std::memcpy(file + slot + lane * static_cast<int>(sizeof(T)), &value, sizeof value);
}

/// Whether any bit is set. `count` is a multiple of 64, as the size of every register of a warp is.
inline bool any_bit(const std::byte* bytes, uint32_t count) {
  typedef uint64_t Pair __attribute__((vector_size(16), aligned(1), may_alias));
  Pair any = {};
  for (uint32_t at = 0; at < count; at += 64) {
    const auto* line = reinterpret_cast<const Pair*>(bytes + at);
    any |= (line[0] | line[1]) | (line[2] | line[3]);
  }
  return (any[0] | any[1]) != 0;
}

/// Calls visit(lane) for every lane in the mask, in order.
template <typename Visit>
void each_lane(uint32_t mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(__builtin_ctz(mask));
}

}  // namespace kw::vgpu
