// cvt between integers, f16, bf16, f32 and f64, one value per register. Modifiers and rounding
// modes multiply the number of forms, so a row exists per pair of types only. aux holds the
// modifiers, which are tested once per instruction, outside the lane loops. Registers have the
// natural width of their type here (8-bit types in 16 bits); adapters.cpp handles wider ones.
// Results for NaN follow hardware, which differs between f64 and the others. Rounding to nearest
// uses the host's own conversions where it can; the other modes use the slower rounding of numeric.
#include <limits>

#include "isa/half_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

using numeric::Round;

/// The register lane of an integer type.
template <class T>
using LaneOf = std::conditional_t<sizeof(T) == 1,
                                  std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>, T>;

template <class D, class S>
KW_LANE D clamp_integer(S x) {
  using DLimits = std::numeric_limits<D>;
  using SLimits = std::numeric_limits<S>;
  S result = x;
  if constexpr (std::is_signed_v<S> && std::is_unsigned_v<D>) {
    result = result < 0 ? S(0) : result;
  } else if constexpr (std::is_signed_v<S> && sizeof(D) < sizeof(S)) {
    result = result < S(DLimits::min()) ? S(DLimits::min()) : result;
  }
  if constexpr (static_cast<uint64_t>(DLimits::max()) < static_cast<uint64_t>(SLimits::max()))
    result = result > S(DLimits::max()) ? S(DLimits::max()) : result;
  return static_cast<D>(result);
}
template <class D, class S>
KW_LANE LaneOf<D> integer(LaneOf<S> x) {
  return static_cast<LaneOf<D>>(static_cast<D>(static_cast<S>(x)));
}
template <class D, class S>
KW_LANE LaneOf<D> integer_sat(LaneOf<S> x) {
  return static_cast<LaneOf<D>>(clamp_integer<D, S>(static_cast<S>(x)));
}

/// Integer to integer without saturation, between registers of any width. aux gives the number of
/// unused high bits of 64 and the sign, first for the source and then for the result.
template <class W, class R>
void fit(std::byte* file, const AluArgs& args, uint32_t mask) {
  // Bits to shift up and down again.
  const uint32_t source = args.aux & 63, result = args.aux >> 8 & 63;
  const bool source_signed = (args.aux & 64) != 0, result_signed = (args.aux >> 8 & 64) != 0;
  const auto* a = lanes<R>(file, args.src[0]);
  alignas(64) int64_t x[kLanes];
  const auto extend = [&x](uint32_t shift, bool is_signed) {
    if (is_signed) {
      for (int i = 0; i < kLanes; ++i)
        x[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) << shift) >> shift;
    } else {
      for (int i = 0; i < kLanes; ++i)
        x[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) << shift >> shift);
    }
  };
  for (int i = 0; i < kLanes; ++i) x[i] = static_cast<int64_t>(static_cast<uint64_t>(a[i]));
  extend(source, source_signed);
  extend(result, result_signed);
  store_lanes<W>(lanes<W>(file, args.dst[0]), mask, [&](int i) { return static_cast<W>(x[i]); });
}

/// Values out of range saturate. NaN gives 0, or only the top bit set if f64 or a 64-bit integer is
/// involved.
template <class D, class S>
void float_to_integer(std::byte* file, const AluArgs& args, uint32_t mask) {
  using V = typename S::Value;
  using L = LaneOf<D>;
  using Limits = std::numeric_limits<D>;
  alignas(64) V x[kLanes];
  read_values<S>(file, args.src[0], args.aux, x);
  make_integral(x, args.aux);
  constexpr bool kTopBit = std::is_same_v<V, double> || sizeof(D) == 8;
  constexpr D kNan =
      kTopBit ? static_cast<D>(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1)) : D(0);
  constexpr V kLow = static_cast<V>(Limits::min());
  constexpr V kBeyond = static_cast<V>(uint64_t(1) << (Limits::digits - 1)) * V(2);  // max + 1
  using Step = std::conditional_t<sizeof(D) < 4, int32_t, D>;
  store_lanes<L>(lanes<L>(file, args.dst[0]), mask, [&](int i) {
    const V v = x[i];
    const bool inside = (v >= kLow) & (v < kBeyond);
    const D number = static_cast<D>(static_cast<Step>(inside ? v : V(0)));
    const D limited = v >= kBeyond ? Limits::max() : (v < kLow ? Limits::min() : number);
    return static_cast<L>(v != v ? kNan : limited);
  });
}

template <class F, Round kRound>
KW_LANE void integer_to_bits(const uint64_t* magnitude, const uint64_t* negative, uint64_t* out) {
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (std::is_same_v<F, TypeF64>) {
      out[i] = numeric::round_integer_to_double<kRound>(magnitude[i], negative[i] != 0);
    } else {
      out[i] = numeric::round_integer<typename F::Format, kRound>(magnitude[i], negative[i] != 0);
    }
  }
}
template <class F>
__attribute__((noinline)) void round_integers(const uint64_t* magnitude, const uint64_t* negative,
                                              uint32_t aux, uint64_t* out) {
  switch (static_cast<Round>(aux & kCvtRoundMask)) {
    case Round::Zero:
      return integer_to_bits<F, Round::Zero>(magnitude, negative, out);
    case Round::Down:
      return integer_to_bits<F, Round::Down>(magnitude, negative, out);
    case Round::Up:
      return integer_to_bits<F, Round::Up>(magnitude, negative, out);
    default:
      return integer_to_bits<F, Round::Nearest>(magnitude, negative, out);
  }
}
template <class F, class S>
void integer_to_float(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto* a = lanes<LaneOf<S>>(file, args.src[0]);
  const bool nearest = (args.aux & ~kCvtFtz) == static_cast<uint32_t>(Round::Nearest);
  if constexpr (sizeof(typename F::Lane) >= 4) {
    using L = typename F::Lane;
    if (nearest) {
      store_lanes<L>(lanes<L>(file, args.dst[0]), mask,
                     [=](int i) { return static_cast<L>(static_cast<S>(a[i])); });
      return;
    }
  }
  alignas(64) uint64_t magnitude[kLanes], negative[kLanes], out[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const S x = static_cast<S>(a[i]);
    const uint64_t extended = static_cast<uint64_t>(
        static_cast<std::conditional_t<std::is_signed_v<S>, int64_t, uint64_t>>(x));
    negative[i] = std::is_signed_v<S> ? extended >> 63 : 0;
    magnitude[i] = negative[i] != 0 ? 0 - extended : extended;
  }
  if (args.aux & kCvtSat) {  // into [0, 1]: negative numbers give 0, positive ones 1
    for (int i = 0; i < kLanes; ++i) magnitude[i] = magnitude[i] != 0 && negative[i] == 0 ? 1 : 0;
    for (int i = 0; i < kLanes; ++i) negative[i] = 0;
  }
  round_integers<F>(magnitude, negative, args.aux, out);
  using U = std::conditional_t<std::is_same_v<F, TypeF64>, uint64_t,
                               std::conditional_t<std::is_same_v<F, TypeF32>, uint32_t, uint16_t>>;
  store_lanes<U>(lanes<U>(file, args.dst[0]), mask, [&](int i) { return static_cast<U>(out[i]); });
}

/// NaN lanes of f64 narrowed to `F`: keeps the sign and the upper payload bits, and makes it quiet.
template <class F>
KW_LANE void narrow_nans(const double* x, uint32_t* out) {
  constexpr uint32_t kQuietNan = (uint32_t(1) << (F::exponent + 1)) - 1;  // exponent and quiet bit
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t raw = bits(x[i]);
    const uint32_t sign = static_cast<uint32_t>(raw >> 63) << (F::bits - 1);
    const uint32_t payload =
        static_cast<uint32_t>(raw >> (52 - F::mantissa)) & ((uint32_t(1) << F::mantissa) - 1);
    out[i] = x[i] != x[i] ? sign | kQuietNan << (F::mantissa - 1) | payload : out[i];
  }
}

// NaN as on hardware. f64 sources keep sign and payload. A conversion that changes no bits is a
// copy. All that compute in binary32 give the canonical NaN.
template <class D, class S>
void float_to_float(std::byte* file, const AluArgs& args, uint32_t mask) {
  using V = typename S::Value;
  alignas(64) V x[kLanes];
  read_values<S>(file, args.src[0], args.aux, x);
  modify_values(x, args.aux);
  if constexpr (std::is_same_v<D, TypeF64>) {
    constexpr uint64_t kQuiet = 0x0008000000000000u;
    if constexpr (std::is_same_v<S, TypeF64>) {
      if ((args.aux & (kCvtToIntegral | kCvtSat)) == 0) {
        store_lanes<double>(lanes<double>(file, args.dst[0]), mask, [&](int i) { return x[i]; });
        return;
      }
    } else if (args.aux & kCvtFtz) {
      for (int i = 0; i < kLanes; ++i) x[i] = canonical(x[i]);
    }
    store_lanes<double>(lanes<double>(file, args.dst[0]), mask, [&](int i) {
      const double wide = static_cast<double>(x[i]);
      return wide != wide ? as_double(bits(wide) | kQuiet) : wide;
    });
  } else if constexpr (std::is_same_v<D, TypeF32> && std::is_same_v<V, float>) {
    const bool copies = !std::is_same_v<S, TypeF16> && (args.aux & (kCvtFtz | kCvtToIntegral)) == 0;
    if (args.aux & kCvtFtz)
      for (int i = 0; i < kLanes; ++i) x[i] = flush(x[i]);
    if (!copies)
      for (int i = 0; i < kLanes; ++i) x[i] = canonical(x[i]);
    store_lanes<float>(lanes<float>(file, args.dst[0]), mask, [&](int i) { return x[i]; });
  } else {
    using L = std::conditional_t<std::is_same_v<D, TypeF32>, uint32_t, uint16_t>;
    alignas(64) uint32_t out[kLanes];
    const bool plain =
        (args.aux & (kCvtRoundMask | kCvtSatfinite)) == static_cast<uint32_t>(Round::Nearest);
    if (plain && std::is_same_v<D, TypeF32>) {
      for (int i = 0; i < kLanes; ++i) out[i] = bits(static_cast<float>(x[i]));
    } else if (plain && std::is_same_v<V, float>) {
      if constexpr (std::is_same_v<V, float> && !std::is_same_v<D, TypeF32>) {
        alignas(64) uint16_t half[kLanes];
        narrow_all<typename D::Format, kLanes>(x, half);
        for (int i = 0; i < kLanes; ++i) out[i] = half[i];
      }
    } else {
      narrow_values<typename D::Format>(x, args.aux, out);
    }
    if constexpr (std::is_same_v<V, double>) narrow_nans<typename D::Format>(x, out);
    if constexpr (std::is_same_v<D, TypeF32>) {
      if (args.aux & kCvtFtz)
        for (int i = 0; i < kLanes; ++i) out[i] = bits(flush(as_float(out[i])));
    }
    store_lanes<L>(lanes<L>(file, args.dst[0]), mask,
                   [&](int i) { return static_cast<L>(out[i]); });
  }
}

#define KW_ROWS_TO_INT(name, D)                                                                \
  {"cvt." name ".u8", map<integer<D, uint8_t>>}, {"cvt." name ".s8", map<integer<D, int8_t>>}, \
      {"cvt." name ".u16", map<integer<D, uint16_t>>},                                         \
      {"cvt." name ".s16", map<integer<D, int16_t>>},                                          \
      {"cvt." name ".u32", map<integer<D, uint32_t>>},                                         \
      {"cvt." name ".s32", map<integer<D, int32_t>>},                                          \
      {"cvt." name ".u64", map<integer<D, uint64_t>>},                                         \
      {"cvt." name ".s64", map<integer<D, int64_t>>},                                          \
      {"cvt.sat." name ".u8", map<integer_sat<D, uint8_t>>},                                   \
      {"cvt.sat." name ".s8", map<integer_sat<D, int8_t>>},                                    \
      {"cvt.sat." name ".u16", map<integer_sat<D, uint16_t>>},                                 \
      {"cvt.sat." name ".s16", map<integer_sat<D, int16_t>>},                                  \
      {"cvt.sat." name ".u32", map<integer_sat<D, uint32_t>>},                                 \
      {"cvt.sat." name ".s32", map<integer_sat<D, int32_t>>},                                  \
      {"cvt.sat." name ".u64", map<integer_sat<D, uint64_t>>},                                 \
      {"cvt.sat." name ".s64", map<integer_sat<D, int64_t>>},                                  \
      {"cvt." name ".f16", float_to_integer<D, TypeF16>},                                      \
      {"cvt." name ".bf16", float_to_integer<D, TypeBf16>},                                    \
      {"cvt." name ".f32", float_to_integer<D, TypeF32>}, {                                    \
    "cvt." name ".f64", float_to_integer<D, TypeF64>                                           \
  }
#define KW_ROWS_TO_FLOAT(name, D)                          \
  {"cvt." name ".u8", integer_to_float<D, uint8_t>},       \
      {"cvt." name ".s8", integer_to_float<D, int8_t>},    \
      {"cvt." name ".u16", integer_to_float<D, uint16_t>}, \
      {"cvt." name ".s16", integer_to_float<D, int16_t>},  \
      {"cvt." name ".u32", integer_to_float<D, uint32_t>}, \
      {"cvt." name ".s32", integer_to_float<D, int32_t>},  \
      {"cvt." name ".u64", integer_to_float<D, uint64_t>}, \
      {"cvt." name ".s64", integer_to_float<D, int64_t>},  \
      {"cvt." name ".f16", float_to_float<D, TypeF16>},    \
      {"cvt." name ".bf16", float_to_float<D, TypeBf16>},  \
      {"cvt." name ".f32", float_to_float<D, TypeF32>}, {  \
    "cvt." name ".f64", float_to_float<D, TypeF64>         \
  }

constexpr Row kRows[] = {
    {"fit.16.16", fit<uint16_t, uint16_t>}, {"fit.16.32", fit<uint16_t, uint32_t>},
    {"fit.16.64", fit<uint16_t, uint64_t>}, {"fit.32.16", fit<uint32_t, uint16_t>},
    {"fit.32.32", fit<uint32_t, uint32_t>}, {"fit.32.64", fit<uint32_t, uint64_t>},
    {"fit.64.16", fit<uint64_t, uint16_t>}, {"fit.64.32", fit<uint64_t, uint32_t>},
    {"fit.64.64", fit<uint64_t, uint64_t>}, KW_ROWS_TO_INT("u8", uint8_t),
    KW_ROWS_TO_INT("s8", int8_t),           KW_ROWS_TO_INT("u16", uint16_t),
    KW_ROWS_TO_INT("s16", int16_t),         KW_ROWS_TO_INT("u32", uint32_t),
    KW_ROWS_TO_INT("s32", int32_t),         KW_ROWS_TO_INT("u64", uint64_t),
    KW_ROWS_TO_INT("s64", int64_t),         KW_ROWS_TO_FLOAT("f16", TypeF16),
    KW_ROWS_TO_FLOAT("bf16", TypeBf16),     KW_ROWS_TO_FLOAT("f32", TypeF32),
    KW_ROWS_TO_FLOAT("f64", TypeF64),
};

}  // namespace

std::span<const Row> convert_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
