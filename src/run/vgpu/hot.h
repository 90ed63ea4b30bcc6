// Small helpers for the sources compiled once per x86-64 level. Everything here is always inlined,
// so that the linker never mixes levels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/level.h"
#include "vgpu/inst.h"

#ifndef KW_SIMD_LEVEL
#define KW_SIMD_LEVEL portable  // only so that this header compiles alone
#endif

namespace kw::vgpu::KW_SIMD_LEVEL {

typedef uint32_t U32 __attribute__((may_alias));
typedef uint64_t U64 __attribute__((may_alias));

alignas(64) inline constexpr uint32_t kLaneBit[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
alignas(64) inline constexpr uint64_t kLaneBit64[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

KW_LANE uint32_t& mask_at(std::byte* file, uint32_t offset) {
  return *reinterpret_cast<U32*>(file + offset);
}
KW_LANE U32* lanes32(std::byte* file, uint32_t offset) {
  return static_cast<U32*>(__builtin_assume_aligned(static_cast<void*>(file + offset), 64));
}
KW_LANE U64* lanes64(std::byte* file, uint32_t offset) {
  return static_cast<U64*>(__builtin_assume_aligned(static_cast<void*>(file + offset), 64));
}
KW_LANE int first_lane(uint32_t mask) { return __builtin_ctz(mask); }
KW_LANE int last_lane(uint32_t mask) { return 31 - __builtin_clz(mask); }
/// Whether the lanes of the mask are contiguous.
KW_LANE bool is_range(uint32_t mask) {
  const uint32_t filled = mask | (mask - 1);
  return (filled & (filled + 1)) == 0;
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
