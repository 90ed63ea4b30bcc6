// f16, f16x2, bf16 and bf16x2 arithmetic, and f32 arithmetic with half-width sources. Not every
// level has half arithmetic, so values are computed in wider floats and rounded once at the end.
// For one add or multiply the second rounding never changes the result, since binary32 has twice
// the bits plus two. For fma it could, so the sum is rounded to odd first, which makes the second
// rounding correct. bf16 has binary32's range, so its exact product needs binary64. That is slow,
// so it is used only if the binary32 result of some lane is a tie.
#include "isa/half_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

using numeric::Bf16;
using numeric::Fp16;

KW_LANE float add(float a, float b) { return a + b; }
KW_LANE float sub(float a, float b) { return a - b; }
KW_LANE float mul(float a, float b) { return a * b; }

/// Moves a rounded sum to the neighbour with an odd last bit if `error` shows that it was inexact.
template <class T>
KW_LANE T to_odd(T sum, T error) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const U raw = std::bit_cast<U>(sum);
  const bool away = (error > T(0)) == (sum > T(0));
  const U moved = away ? raw + 1 : raw - 1;
  const bool adjust = (error < T(0)) | (error > T(0));  // false for NaN
  return std::bit_cast<T>(adjust && (raw & 1) == 0 ? moved : raw);
}
/// a + b rounded to odd; the rounding error is computed exactly.
template <class T>
KW_LANE T sum_to_odd(T a, T b) {
  const T sum = a + b;
  const T back = sum - a;
  const T error = (a - (sum - back)) + (b - back);
  return to_odd(sum, error);
}
// f16: the product of two 11-bit significands is exact in binary32 and does not overflow.
KW_LANE float fma_f16(float a, float b, float c) { return sum_to_odd<float>(a * b, c); }
// bf16 has binary32's range, so the exact product needs binary64. The sum is then rounded to odd
// again on its way to binary32. Infinities and values beyond its range become the right infinity
// when rounded to bf16.
KW_LANE float fma_bf16(float a, float b, float c) {
  const double sum = sum_to_odd<double>(static_cast<double>(a) * b, c);
  const float nearest = static_cast<float>(sum);
  const double back = nearest;
  const bool larger = (sum > 0 ? back : -back) > (sum > 0 ? sum : -sum);
  const uint32_t below = bits(nearest) - static_cast<uint32_t>(larger);
  return (back < sum) | (back > sum) ? as_float(below | 1u) : nearest;
}

template <bool kMax, NanRule kRule>
KW_LANE float extreme2(float a, float b) {
  return extreme<kMax, kRule>(a, b, as_float(kNan32));
}
template <bool kMax, NanRule kRule>
KW_LANE float extreme_xorsign(float a, float b) {
  const uint32_t sign = (bits(a) ^ bits(b)) & 0x80000000u;
  const float result =
      extreme2<kMax, kRule>(as_float(bits(a) & 0x7fffffffu), as_float(bits(b) & 0x7fffffffu));
  return result != result ? result : as_float(bits(result) | sign);
}

template <class F, int kCount, bool kFtz, Clamp kClamp, float (*kFn)(float, float)>
void binary(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float a[kCount], b[kCount];
  load_halves<F, kCount, kFtz>(file, args.src[0], a);
  load_halves<F, kCount, kFtz>(file, args.src[1], b);
  for (int i = 0; i < kCount; ++i) a[i] = kFn(a[i], b[i]);
  store_halves<F, kCount, kFtz, kClamp>(file, args.dst[0], a, mask);
}
/// One fused operation in binary32, rounded again to bf16, is right unless it gave a tie. Then all
/// lanes are computed exactly.
template <int kCount>
KW_LANE void fma_bf16_all(float* a, const float* b, const float* c) {
  alignas(64) float sum[kCount];
  for (int i = 0; i < kCount; ++i) sum[i] = __builtin_fmaf(a[i], b[i], c[i]);
  int32_t ties = 0;
  for (int i = 0; i < kCount; ++i) ties |= (bits(sum[i]) & 0xffffu) == 0x8000u ? -1 : 0;
  if (ties != 0) {
    for (int i = 0; i < kCount; ++i) a[i] = fma_bf16(a[i], b[i], c[i]);
  } else {
    for (int i = 0; i < kCount; ++i) a[i] = sum[i];
  }
}

template <class F, int kCount, bool kFtz, Clamp kClamp, float (*kFn)(float, float, float)>
void ternary(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float a[kCount], b[kCount], c[kCount];
  load_halves<F, kCount, kFtz>(file, args.src[0], a);
  load_halves<F, kCount, kFtz>(file, args.src[1], b);
  load_halves<F, kCount, kFtz>(file, args.src[2], c);
  if constexpr (kFn == fma_bf16) {
    fma_bf16_all<kCount>(a, b, c);
  } else {
    for (int i = 0; i < kCount; ++i) a[i] = kFn(a[i], b[i], c[i]);
  }
  store_halves<F, kCount, kFtz, kClamp>(file, args.dst[0], a, mask);
}

/// neg and abs change only the sign bit (and flush), but give the canonical NaN.
template <class F, int kCount, bool kFtz, bool kAbs>
void sign(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) uint16_t result[kCount];
  const auto* a = lanes<uint16_t>(file, args.src[0]);
  for (int i = 0; i < kCount; ++i) {
    const uint16_t x = kFtz ? flush16(a[i]) : uint16_t(a[i]);
    const uint16_t number = kAbs ? x & 0x7fff : x ^ 0x8000;
    result[i] = (x & 0x7fff) > F::infinity ? uint16_t(F::nan) : number;
  }
  blend_halves<kCount>(file, args.dst[0], result, mask);
}

// op.f32.f16: the half source is widened exactly; the rest is an f32 operation.
template <class F, bool kSat>
KW_LANE float add_mixed(uint16_t a, float c) {
  return output<false, kSat>(numeric::widen<F>(a) + c);
}
template <class F, bool kSat>
KW_LANE float sub_mixed(uint16_t a, float c) {
  return output<false, kSat>(numeric::widen<F>(a) - c);
}
template <class F, bool kSat>
KW_LANE float fma_mixed(uint16_t a, uint16_t b, float c) {
  return output<false, kSat>(__builtin_fmaf(numeric::widen<F>(a), numeric::widen<F>(b), c));
}

#define KW_ROWS_F16(name, shape, fn, flags, ftz, clamp)          \
  {name flags ".f16", shape<Fp16, kLanes, ftz, clamp, fn>}, {    \
    name flags ".f16x2", shape<Fp16, kPairLanes, ftz, clamp, fn> \
  }
#define KW_ROWS_BF16(name, shape, fn, flags, clamp)                 \
  {name flags ".bf16", shape<Bf16, kLanes, false, clamp, fn>}, {    \
    name flags ".bf16x2", shape<Bf16, kPairLanes, false, clamp, fn> \
  }
#define KW_ROWS_ARITH(name, fn)                                    \
  KW_ROWS_F16(name, binary, fn, "", false, Clamp::None),           \
      KW_ROWS_F16(name, binary, fn, ".ftz", true, Clamp::None),    \
      KW_ROWS_F16(name, binary, fn, ".sat", false, Clamp::Sat),    \
      KW_ROWS_F16(name, binary, fn, ".ftz.sat", true, Clamp::Sat), \
      KW_ROWS_BF16(name, binary, fn, "", Clamp::None)
#define KW_ROWS_EXTREME(name, shape, flags, fn, max, rule)                        \
  KW_ROWS_F16(name, shape, (fn<max, rule>), flags, false, Clamp::None),           \
      KW_ROWS_F16(name ".ftz", shape, (fn<max, rule>), flags, true, Clamp::None), \
      KW_ROWS_BF16(name, shape, (fn<max, rule>), flags, Clamp::None)
#define KW_ROWS_EXTREMES(shape, flags, fn, rule)         \
  KW_ROWS_EXTREME("min", shape, flags, fn, false, rule), \
      KW_ROWS_EXTREME("max", shape, flags, fn, true, rule)
#define KW_ROWS_SIGN(name, is_abs)                               \
  {name ".f16", sign<Fp16, kLanes, false, is_abs>},              \
      {name ".f16x2", sign<Fp16, kPairLanes, false, is_abs>},    \
      {name ".ftz.f16", sign<Fp16, kLanes, true, is_abs>},       \
      {name ".ftz.f16x2", sign<Fp16, kPairLanes, true, is_abs>}, \
      {name ".bf16", sign<Bf16, kLanes, false, is_abs>}, {       \
    name ".bf16x2", sign<Bf16, kPairLanes, false, is_abs>        \
  }
#define KW_ROWS_MIXED(name, fn)                                                        \
  {name ".f32.f16", map<fn<Fp16, false>>}, {name ".sat.f32.f16", map<fn<Fp16, true>>}, \
      {name ".f32.bf16", map<fn<Bf16, false>>}, {                                      \
    name ".sat.f32.bf16", map<fn<Bf16, true>>                                          \
  }

constexpr Row kRows[] = {
    KW_ROWS_ARITH("add", add),
    KW_ROWS_ARITH("sub", sub),
    KW_ROWS_ARITH("mul", mul),
    KW_ROWS_F16("fma", ternary, fma_f16, "", false, Clamp::None),
    KW_ROWS_F16("fma", ternary, fma_f16, ".ftz", true, Clamp::None),
    KW_ROWS_F16("fma", ternary, fma_f16, ".sat", false, Clamp::Sat),
    KW_ROWS_F16("fma", ternary, fma_f16, ".ftz.sat", true, Clamp::Sat),
    KW_ROWS_F16("fma", ternary, fma_f16, ".relu", false, Clamp::Relu),
    KW_ROWS_F16("fma", ternary, fma_f16, ".ftz.relu", true, Clamp::Relu),
    KW_ROWS_BF16("fma", ternary, fma_bf16, "", Clamp::None),
    KW_ROWS_BF16("fma", ternary, fma_bf16, ".relu", Clamp::Relu),
    KW_ROWS_EXTREMES(binary, "", extreme2, NanRule::Other),
    KW_ROWS_EXTREMES(binary, ".NaN", extreme2, NanRule::Propagate),
    KW_ROWS_EXTREMES(binary, ".xorsign.abs", extreme_xorsign, NanRule::Other),
    KW_ROWS_EXTREMES(binary, ".NaN.xorsign.abs", extreme_xorsign, NanRule::Propagate),
    KW_ROWS_SIGN("neg", false),
    KW_ROWS_SIGN("abs", true),
    KW_ROWS_MIXED("add", add_mixed),
    KW_ROWS_MIXED("sub", sub_mixed),
    KW_ROWS_MIXED("fma", fma_mixed),
};

}  // namespace

std::span<const Row> half_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
