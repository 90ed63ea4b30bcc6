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

/// Calls visit(lane) for every lane in the mask, in order.
template <typename Visit>
void each_lane(uint32_t mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(__builtin_ctz(mask));
}

}  // namespace kw::vgpu
