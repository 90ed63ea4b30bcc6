// Parts of conversions: reads a register into 32 floats or doubles, applies the modifiers, and
// rounds to a narrower format. The modifiers are the same for all lanes, so they are tested once
// per part, outside the loops.
#pragma once

#include <immintrin.h>

#include <type_traits>

#include "isa/convert_aux.h"
#include "isa/float_lanes.h"
#include "numeric/small_float.h"

namespace kw::isa::KW_SIMD_LEVEL {

/// A float type as it is stored in a register, and the host type of its values.
struct TypeF16 {
  using Lane = uint16_t;
  using Value = float;
  using Format = numeric::Fp16;
  static KW_LANE float value(Lane x) { return numeric::widen<Format>(x); }
};
struct TypeBf16 {
  using Lane = uint16_t;
  using Value = float;
  using Format = numeric::Bf16;
  static KW_LANE float value(Lane x) { return numeric::widen<Format>(x); }
};
struct TypeF32 {
  using Lane = float;
  using Value = float;
  using Format = numeric::Fp32;
  static KW_LANE float value(Lane x) { return x; }
};
struct TypeF64 {
  using Lane = double;
  using Value = double;
  static KW_LANE double value(Lane x) { return x; }
};

template <class V>
KW_LANE V integral(V x, numeric::Round round) {
  const bool single = std::is_same_v<V, float>;
  switch (round) {
    case numeric::Round::Zero:
      return single ? __builtin_truncf(x) : __builtin_trunc(x);
    case numeric::Round::Down:
      return single ? __builtin_floorf(x) : __builtin_floor(x);
    case numeric::Round::Up:
      return single ? __builtin_ceilf(x) : __builtin_ceil(x);
    default:
      return single ? __builtin_rintf(x) : __builtin_rint(x);
  }
}
template <class V, numeric::Round kRound>
KW_LANE void integral_lanes(V* x) {
  for (int i = 0; i < kLanes; ++i) x[i] = integral(x[i], kRound);
}
/// Rounds every value to an integral one.
template <class V>
__attribute__((noinline)) inline void make_integral(V* x, uint32_t aux) {
  switch (static_cast<numeric::Round>(aux & kCvtRoundMask)) {
    case numeric::Round::Zero:
      return integral_lanes<V, numeric::Round::Zero>(x);
    case numeric::Round::Down:
      return integral_lanes<V, numeric::Round::Down>(x);
    case numeric::Round::Up:
      return integral_lanes<V, numeric::Round::Up>(x);
    default:
      return integral_lanes<V, numeric::Round::Nearest>(x);
  }
}

/// read_values reads the source register and applies .ftz; modify_values applies integer rounding,
/// .sat and .relu. Clamping before the final rounding gives the same result as after it, because
/// rounding never crosses 0 or 1.
template <class S>
KW_LANE void read_values(std::byte* file, uint32_t offset, uint32_t aux, typename S::Value* x) {
  const auto* a = lanes<typename S::Lane>(file, offset);
  for (int i = 0; i < kLanes; ++i) x[i] = S::value(a[i]);
  if constexpr (std::is_same_v<S, TypeF32>) {
    if (aux & kCvtFtz)
      for (int i = 0; i < kLanes; ++i) x[i] = flush(x[i]);
  }
}
template <class V>
KW_LANE void modify_values(V* x, uint32_t aux) {
  if (aux & kCvtToIntegral) make_integral(x, aux);
  if (aux & kCvtSat)
    for (int i = 0; i < kLanes; ++i) x[i] = saturate(x[i]);
  if (aux & kCvtRelu)
    for (int i = 0; i < kLanes; ++i) x[i] = x[i] <= V(0) ? V(0) : x[i];
}

template <class To, numeric::Round kRound, class V>
KW_LANE void narrow_loop(const V* x, uint32_t aux, uint32_t* out) {
  if (aux & kCvtSatfinite) {
    for (int i = 0; i < kLanes; ++i)
      out[i] = numeric::narrow<To, kRound, numeric::Overflow::Saturate>(x[i]);
  } else {
    for (int i = 0; i < kLanes; ++i)
      out[i] = numeric::narrow<To, kRound, numeric::Overflow::Infinity>(x[i]);
  }
}
/// Rounds 32 values to bits of format `To`, in the mode of `aux`.
template <class To, class V>
__attribute__((noinline)) inline void narrow_values(const V* x, uint32_t aux, uint32_t* out) {
  switch (static_cast<numeric::Round>(aux & kCvtRoundMask)) {
    case numeric::Round::Zero:
      return narrow_loop<To, numeric::Round::Zero>(x, aux, out);
    case numeric::Round::Down:
      return narrow_loop<To, numeric::Round::Down>(x, aux, out);
    case numeric::Round::Up:
      return narrow_loop<To, numeric::Round::Up>(x, aux, out);
    case numeric::Round::NearestAway:
      return narrow_loop<To, numeric::Round::NearestAway>(x, aux, out);
    default:
      return narrow_loop<To, numeric::Round::Nearest>(x, aux, out);
  }
}

}  // namespace kw::isa::KW_SIMD_LEVEL
