// The approximate instructions. Their values come from numeric/approx.h, special cases and flushing
// from the ISA.
#include "isa/half_lanes.h"
#include "isa/rows.h"
#include "numeric/approx.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

template <float (*kFn)(float), bool kFtz>
KW_LANE float special(float x) {
  return output<kFtz, false>(kFn(input<kFtz>(x)));
}

KW_LANE float reciprocal(float x) { return 1.0f / x; }
KW_LANE float square_root(float x) { return __builtin_sqrtf(x); }

template <bool kFtz>
KW_LANE float div_full(float a, float b) {
  return output<kFtz, false>(input<kFtz>(a) / input<kFtz>(b));
}
/// a * (1 / b), with a reciprocal of zero for |b| above 2^126.
template <bool kFtz>
KW_LANE float div_approx(float a, float b) {
  const float x = input<kFtz>(a), y = input<kFtz>(b);
  const float magnitude = as_float(bits(y) & 0x7fffffffu);
  const bool huge = magnitude > 0x1p126f && magnitude < as_float(0x7f800000u);
  const float zero = as_float(bits(y) & 0x80000000u);
  return output<kFtz, false>(huge ? x * zero : x / y);
}

/// sin and cos: the loop is right up to numeric::kTurnLimit. Lanes beyond it are computed again,
/// one by one.
template <int kShift, bool kFtz>
void turn(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float x[kLanes], y[kLanes];
  const auto* a = lanes<float>(file, args.src[0]);
  for (int i = 0; i < kLanes; ++i) x[i] = input<kFtz>(a[i]);
  int32_t large = 0;
  for (int i = 0; i < kLanes; ++i)
    large |= (bits(x[i]) & 0x7fffffffu) > bits(numeric::kTurnLimit) ? -1 : 0;
  for (int i = 0; i < kLanes; ++i) y[i] = kShift == 0 ? numeric::sine(x[i]) : numeric::cosine(x[i]);
  for (int i = 0; large != 0 && i < kLanes; ++i) {
    const uint32_t magnitude = bits(x[i]) & 0x7fffffffu;
    if (magnitude <= bits(numeric::kTurnLimit)) continue;
    y[i] = magnitude >= 0x7f800000u ? as_float(kNan32)
                                    : numeric::turn_sine<kShift>(numeric::reduce_large(x[i]));
  }
  store_lanes<float>(lanes<float>(file, args.dst[0]), mask,
                     [&](int i) { return output<kFtz, false>(y[i]); });
}

template <class F, int kCount, bool kFtz, float (*kFn)(float)>
void half_special(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float x[kCount];
  load_halves<F, kCount, false>(file, args.src[0], x);
  if constexpr (kFtz)
    for (int i = 0; i < kCount; ++i) x[i] = flush(x[i]);
  for (int i = 0; i < kCount; ++i) x[i] = kFn(x[i]);
  if constexpr (kFtz)
    for (int i = 0; i < kCount; ++i) x[i] = flush(x[i]);
  store_halves<F, kCount, false, Clamp::None>(file, args.dst[0], x, mask);
}

// The f64 seeds use only the upper word (also to detect a NaN) and flush subnormals. The lower word
// of the result is zero.
KW_LANE double seed_input(double x) {
  const uint64_t upper = bits(x) & 0xffffffff00000000u;
  return as_double((upper & 0x7ff0000000000000u) == 0 ? upper & 0x8000000000000000u : upper);
}
KW_LANE double seed_output(double x, bool nan) {
  const double rounded = numeric::upper_word(x);
  const uint64_t raw = bits(rounded);
  const double flushed =
      as_double((raw & 0x7ff0000000000000u) == 0 ? raw & 0x8000000000000000u : raw);
  return nan ? as_double(0x7ff8000000000000u) : flushed;
}
KW_LANE double rcp_seed(double a) {
  const double x = seed_input(a), result = 1.0 / x;
  return seed_output(result, x != x);
}
KW_LANE double rsqrt_seed(double a) {
  const double x = seed_input(a), result = 1.0 / __builtin_sqrt(x);
  return seed_output(result, x != x || x < 0.0);
}
KW_LANE double rsqrt_double(double a) {
  const double result = 1.0 / __builtin_sqrt(a);
  return result != result ? as_double(0x7ff8000000000000u) : result;
}

#define KW_ROWS_SPECIAL(name, fn) \
  {name ".approx.f32", map<special<fn, false>>}, { name ".approx.ftz.f32", map<special<fn, true>> }
#define KW_ROWS_SPECIAL_HALF(name, flags, fn, F, type, ftz)                  \
  {name ".approx" flags "." type, half_special<F, kLanes, ftz, fn>}, {       \
    name ".approx" flags "." type "x2", half_special<F, kPairLanes, ftz, fn> \
  }

constexpr Row kRows[] = {
    KW_ROWS_SPECIAL("ex2", numeric::ex2),
    KW_ROWS_SPECIAL("lg2", numeric::lg2),
    KW_ROWS_SPECIAL("tanh", numeric::tanh_float),
    KW_ROWS_SPECIAL("rcp", reciprocal),
    KW_ROWS_SPECIAL("sqrt", square_root),
    KW_ROWS_SPECIAL("rsqrt", numeric::rsqrt_float),
    {"sin.approx.f32", turn<0, false>},
    {"sin.approx.ftz.f32", turn<0, true>},
    {"cos.approx.f32", turn<1, false>},
    {"cos.approx.ftz.f32", turn<1, true>},
    {"div.full.f32", map<div_full<false>>},
    {"div.full.ftz.f32", map<div_full<true>>},
    {"div.approx.f32", map<div_approx<false>>},
    {"div.approx.ftz.f32", map<div_approx<true>>},
    KW_ROWS_SPECIAL_HALF("ex2", "", numeric::ex2, numeric::Fp16, "f16", false),
    KW_ROWS_SPECIAL_HALF("ex2", ".ftz", numeric::ex2, numeric::Bf16, "bf16", true),
    KW_ROWS_SPECIAL_HALF("tanh", "", numeric::tanh_float, numeric::Fp16, "f16", false),
    KW_ROWS_SPECIAL_HALF("tanh", "", numeric::tanh_float, numeric::Bf16, "bf16", false),
    {"rcp.approx.ftz.f64", map<rcp_seed>},
    {"rsqrt.approx.ftz.f64", map<rsqrt_seed>},
    {"rsqrt.approx.f64", map<rsqrt_double>},
};

}  // namespace

std::span<const Row> special_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
