// How the decoder says what a comparison does with its truth values (AluArgs::aux). Internal to
// this module.
#pragma once

#include <cstdint>

namespace kw::isa {

inline constexpr uint32_t kCombineMask = 3;
inline constexpr uint32_t kCombineAnd = 1, kCombineOr = 2, kCombineXor = 3;
inline constexpr uint32_t kTwoResults = 4;  // setp p|q

inline constexpr uint32_t kSetMask = 0xf0;  // what set writes for true; false is zero
inline constexpr uint32_t kSetOnes16 = 0x10, kSetF16 = 0x20, kSetBf16 = 0x30, kSetOnes32 = 0x40,
                          kSetF32 = 0x50, kSetOnesPair = 0x60, kSetF16Pair = 0x70,
                          kSetBf16Pair = 0x80;

}  // namespace kw::isa
