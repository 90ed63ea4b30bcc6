// How the decoder describes a conversion to its handler (AluArgs::aux). Internal to this module.
#pragma once

#include <cstdint>

namespace kw::isa {

inline constexpr uint32_t kCvtRoundMask = 7;        // numeric::Round
inline constexpr uint32_t kCvtToIntegral = 1 << 3;  // .rni .rzi .rmi .rpi on a float result
inline constexpr uint32_t kCvtFtz = 1 << 4;
inline constexpr uint32_t kCvtSat = 1 << 5;
inline constexpr uint32_t kCvtRelu = 1 << 6;
inline constexpr uint32_t kCvtSatfinite = 1 << 7;
inline constexpr uint32_t kCvtAuxBits = 8;

}  // namespace kw::isa
