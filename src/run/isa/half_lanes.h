// f16 and bf16 registers as arrays of floats: a pair register has 64 values instead of 32. Loading
// is exact. Storing rounds once to nearest even. So the stored value must be exact, rounded to odd,
// or the binary32 result of one add or multiply. Per-level code only.
#pragma once

#include "isa/convert_lanes.h"

namespace kw::isa::KW_SIMD_LEVEL {

inline constexpr int kPairLanes = 2 * kLanes;

// Without F16C the conversions are long, so one copy of each is enough.
#if defined(__F16C__)
#define KW_HALF_CONVERSION KW_LANE
#else
#define KW_HALF_CONVERSION __attribute__((noinline)) inline
#endif

KW_LANE uint16_t flush16(uint16_t x) { return (x & 0x7c00) == 0 ? x & 0x8000 : x; }

/// Converts `kCount` 16-bit elements of format `F` (numeric::Fp16 or Bf16) to floats.
template <class F, int kCount>
KW_HALF_CONVERSION void widen_all(const uint16_t* in, float* out) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<F, numeric::Fp16>) {
#if defined(__AVX512F__)
    for (int i = 0; i < kCount; i += 16)
      _mm512_store_ps(out + i,
                      _mm512_maskz_cvtph_ps(
                          0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#else
    for (int i = 0; i < kCount; i += 8)
      _mm256_store_ps(out + i,
                      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#endif
    return;
  }
#endif
  for (int i = 0; i < kCount; ++i) out[i] = numeric::widen<F>(in[i]);
}

/// Rounds to nearest even; NaN becomes 0x7fff.
template <class F, int kCount>
KW_HALF_CONVERSION void narrow_all(const float* in, uint16_t* out) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<F, numeric::Fp16>) {
    alignas(64) float x[kCount];
    for (int i = 0; i < kCount; ++i) x[i] = canonical(in[i]);
#if defined(__AVX512F__)
    for (int i = 0; i < kCount; i += 16)
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(out + i),
          _mm512_maskz_cvtps_ph(0xffff, _mm512_load_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < kCount; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm256_cvtps_ph(_mm256_load_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    return;
  }
#endif
  if constexpr (std::is_same_v<F, numeric::Bf16>) {
    for (int i = 0; i < kCount; ++i) out[i] = numeric::float_to_bf16(in[i]);
  } else {
    for (int i = 0; i < kCount; ++i) out[i] = numeric::float_to_fp16(in[i]);
  }
}

template <class F, int kCount, bool kFtz>
KW_LANE void load_halves(std::byte* file, uint32_t offset, float* out) {
  alignas(64) uint16_t raw[kCount];
  const auto* a = lanes<uint16_t>(file, offset);
  for (int i = 0; i < kCount; ++i) raw[i] = kFtz ? flush16(a[i]) : uint16_t(a[i]);
  widen_all<F, kCount>(raw, out);
}

/// Writes the elements of the lanes in `mask`.
template <int kCount>
KW_LANE void blend_halves(std::byte* file, uint32_t offset, const uint16_t* result, uint32_t mask) {
  auto* d = lanes<uint16_t>(file, offset);
  if (mask == ~0u) {
    for (int i = 0; i < kCount; ++i) d[i] = result[i];
  } else if constexpr (kCount == kLanes) {
    for (int i = 0; i < kCount; ++i) d[i] = (mask & kLaneBit[i]) != 0 ? result[i] : uint16_t(d[i]);
  } else {
    auto* pairs = lanes<uint32_t>(file, offset);
    for (int i = 0; i < kLanes; ++i) {
      const uint32_t pair = static_cast<uint32_t>(result[2 * i + 1]) << 16 | result[2 * i];
      pairs[i] = (mask & kLaneBit[i]) != 0 ? pair : uint32_t(pairs[i]);
    }
  }
}

enum class Clamp { None, Sat, Relu };

/// With kFtz, a value becomes zero if it stays below the smallest normal number when rounded with
/// an unlimited exponent.
template <class F, int kCount, bool kFtz, Clamp kClamp>
KW_LANE void store_halves(std::byte* file, uint32_t offset, float* x, uint32_t mask) {
  if constexpr (kClamp == Clamp::Sat)
    for (int i = 0; i < kCount; ++i) x[i] = saturate(x[i]);
  if constexpr (kClamp == Clamp::Relu)
    for (int i = 0; i < kCount; ++i) x[i] = x[i] <= 0.0f ? 0.0f : x[i];
  if constexpr (kFtz) {
    static_assert(std::is_same_v<F, numeric::Fp16>);
    constexpr uint32_t kRoundsToNormal =
        (uint32_t(128 - F::bias) << 23) - (1u << (22 - F::mantissa));
    for (int i = 0; i < kCount; ++i) {
      const uint32_t u = bits(x[i]);
      x[i] = as_float((u & 0x7fffffffu) < kRoundsToNormal ? u & 0x80000000u : u);
    }
  }
  alignas(64) uint16_t result[kCount];
  narrow_all<F, kCount>(x, result);
  blend_halves<kCount>(file, offset, result, mask);
}

}  // namespace kw::isa::KW_SIMD_LEVEL
