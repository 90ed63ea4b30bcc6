// setp, set and testp: comparisons of 32 lanes into a predicate mask, combined with another
// predicate. A predicate is a mask, so 32 results must become bits; shifting each into place does
// not vectorise. So the loop writes 0 or -1 per lane and one instruction per vector collects the
// signs. Sources differ only in how their bits become values, so a Read type gives that and the
// loop is the same. Half types are widened to float, which keeps every comparison exact. The cost
// is one instance per comparison and type.
#include <immintrin.h>

#include <type_traits>

#include "isa/compare_aux.h"
#include "isa/float_lanes.h"
#include "isa/rows.h"
#include "numeric/small_float.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

/// Turns 32 values of 0 or -1 into one mask.
KW_LANE uint32_t to_mask(const int32_t* truth) {
  uint32_t mask = 0;
#if defined(__AVX512DQ__)
  for (int i = 0; i < kLanes; i += 16)
    mask |= static_cast<uint32_t>(_mm512_movepi32_mask(_mm512_load_si512(truth + i))) << i;
#elif defined(__AVX2__)
  for (int i = 0; i < kLanes; i += 8) {
    const __m256i part = _mm256_load_si256(reinterpret_cast<const __m256i*>(truth + i));
    mask |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(part))) << i;
  }
#else
  for (int i = 0; i < kLanes; i += 4) {
    const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(truth + i));
    mask |= static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(part))) << i;
  }
#endif
  return mask;
}

enum class Cmp { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Cmp kCmp, class T>
KW_LANE bool compare(T a, T b) {
  const bool unordered = a != a || b != b;
  switch (kCmp) {
    case Cmp::Eq:
      return a == b;
    case Cmp::Ne:
      return std::is_floating_point_v<T> ? (a < b) | (a > b) : a != b;
    case Cmp::Lt:
      return a < b;
    case Cmp::Le:
      return a <= b;
    case Cmp::Gt:
      return a > b;
    case Cmp::Ge:
      return a >= b;
    case Cmp::Equ:
      return !((a < b) | (a > b));
    case Cmp::Neu:
      return a != b;
    case Cmp::Ltu:
      return !(a >= b);
    case Cmp::Leu:
      return !(a > b);
    case Cmp::Gtu:
      return !(a <= b);
    case Cmp::Geu:
      return !(a < b);
    case Cmp::Num:
      return !unordered;
    case Cmp::Nan:
      return unordered;
  }
  return false;
}

// How the bits of a register become values to compare.
template <class T>
struct Plain {
  using Lane = T;
  static KW_LANE T value(T x) { return x; }
};
struct FlushF32 {
  using Lane = float;
  static KW_LANE float value(float x) { return flush(x); }
};
template <class F, bool kFtz, int kShift>
struct Half {
  using Lane = std::conditional_t < kShift<0, uint16_t, uint32_t>;
  static KW_LANE float value(Lane x) {
    const uint16_t half = static_cast<uint16_t>(x >> (kShift < 0 ? 0 : kShift));
    const bool tiny = kFtz && (half & 0x7c00) == 0;
    return numeric::widen<F>(tiny ? half & 0x8000u : half);
  }
};

template <Cmp kCmp, class Read>
__attribute__((noinline)) uint32_t compare_lanes(std::byte* file, const AluArgs& args) {
  const auto* a = lanes<typename Read::Lane>(file, args.src[0]);
  const auto* b = lanes<typename Read::Lane>(file, args.src[1]);
  alignas(64) int32_t truth[kLanes];
  for (int i = 0; i < kLanes; ++i)
    truth[i] = compare<kCmp>(Read::value(a[i]), Read::value(b[i])) ? -1 : 0;
  return to_mask(truth);
}

KW_LANE uint32_t combine(std::byte* file, const AluArgs& args, uint32_t truth) {
  switch (args.aux & kCombineMask) {
    case kCombineAnd:
      return truth & source_mask(file, args, 2);
    case kCombineOr:
      return truth | source_mask(file, args, 2);
    case kCombineXor:
      return truth ^ source_mask(file, args, 2);
    default:
      return truth;
  }
}

template <Cmp kCmp, class Read>
void setp(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t truth = compare_lanes<kCmp, Read>(file, args);
  const uint32_t p = combine(file, args, truth);
  const uint32_t q = args.aux & kTwoResults ? combine(file, args, ~truth) : 0;
  set_predicate(file, args.dst[0], p, mask);
  if (args.aux & kTwoResults) set_predicate(file, args.dst[1], q, mask);
}
/// Each half of a packed pair gives one predicate, the low half first.
template <Cmp kCmp, class Low, class High>
void setp_pair(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t p = combine(file, args, compare_lanes<kCmp, Low>(file, args));
  const uint32_t q = combine(file, args, compare_lanes<kCmp, High>(file, args));
  set_predicate(file, args.dst[0], p, mask);
  if (args.aux & kTwoResults) set_predicate(file, args.dst[1], q, mask);
}

template <class T>
KW_LANE void store_truth(std::byte* file, const AluArgs& args, uint32_t mask, uint32_t low,
                         uint32_t high, T low_value, T high_value) {
  store_lanes<T>(lanes<T>(file, args.dst[0]), mask, [=](int i) {
    const T first = (low & kLaneBit[i]) != 0 ? low_value : T(0);
    const T second = (high & kLaneBit[i]) != 0 ? high_value : T(0);
    return static_cast<T>(first | second);
  });
}
void store_set(std::byte* file, const AluArgs& args, uint32_t mask, uint32_t low, uint32_t high) {
  switch (args.aux & kSetMask) {
    case kSetOnes16:
      return store_truth<uint16_t>(file, args, mask, low, 0, 0xffff, 0);
    case kSetF16:
      return store_truth<uint16_t>(file, args, mask, low, 0, 0x3c00, 0);
    case kSetBf16:
      return store_truth<uint16_t>(file, args, mask, low, 0, 0x3f80, 0);
    case kSetOnes32:
      return store_truth<uint32_t>(file, args, mask, low, 0, 0xffffffff, 0);
    case kSetF32:
      return store_truth<uint32_t>(file, args, mask, low, 0, 0x3f800000, 0);
    case kSetOnesPair:
      return store_truth<uint32_t>(file, args, mask, low, high, 0xffff, 0xffff0000);
    case kSetF16Pair:
      return store_truth<uint32_t>(file, args, mask, low, high, 0x3c00, 0x3c000000);
    case kSetBf16Pair:
      return store_truth<uint32_t>(file, args, mask, low, high, 0x3f80, 0x3f800000);
    default:
      return;
  }
}
template <Cmp kCmp, class Read>
void set(std::byte* file, const AluArgs& args, uint32_t mask) {
  store_set(file, args, mask, combine(file, args, compare_lanes<kCmp, Read>(file, args)), 0);
}
template <Cmp kCmp, class Low, class High>
void set_pair(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t low = combine(file, args, compare_lanes<kCmp, Low>(file, args));
  const uint32_t high = combine(file, args, compare_lanes<kCmp, High>(file, args));
  store_set(file, args, mask, low, high);
}

enum class Class { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <class U, Class kClass>
void testp(std::byte* file, const AluArgs& args, uint32_t mask) {
  constexpr U kInfinity = sizeof(U) == 4 ? U(0x7f800000u) : U(0x7ff0000000000000u);
  constexpr U kNormal = sizeof(U) == 4 ? U(0x00800000u) : U(0x0010000000000000u);
  const auto* a = lanes<U>(file, args.src[0]);
  alignas(64) int32_t truth[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const U m = a[i] & (U(-1) >> 1);
    const bool is = kClass == Class::Finite       ? m < kInfinity
                    : kClass == Class::Infinite   ? m == kInfinity
                    : kClass == Class::Number     ? m <= kInfinity
                    : kClass == Class::NotANumber ? m > kInfinity
                    : kClass == Class::Normal     ? m == 0 || (m >= kNormal && m < kInfinity)
                                                  : m != 0 && m < kNormal;
    truth[i] = is ? -1 : 0;
  }
  set_predicate(file, args.dst[0], to_mask(truth), mask);
}

using HalfLow = Half<numeric::Fp16, false, 0>;
using HalfHigh = Half<numeric::Fp16, false, 16>;
using HalfLowFtz = Half<numeric::Fp16, true, 0>;
using HalfHighFtz = Half<numeric::Fp16, true, 16>;
using BfLow = Half<numeric::Bf16, false, 0>;
using BfHigh = Half<numeric::Bf16, false, 16>;

#define KW_ROW_CMP(op, cmp, type, ...) \
  {"setp." op "." type, setp<cmp, __VA_ARGS__>}, { "set." op "." type, set<cmp, __VA_ARGS__> }
#define KW_ROW_CMP_PAIR(op, cmp, type, low, high) \
  {"setp." op "." type, setp_pair<cmp, low, high>}, { "set." op "." type, set_pair<cmp, low, high> }
#define KW_ROWS_CMP_INT(op, cmp)                                                               \
  KW_ROW_CMP(op, cmp, "u16", Plain<uint16_t>), KW_ROW_CMP(op, cmp, "s16", Plain<int16_t>),     \
      KW_ROW_CMP(op, cmp, "u32", Plain<uint32_t>), KW_ROW_CMP(op, cmp, "s32", Plain<int32_t>), \
      KW_ROW_CMP(op, cmp, "u64", Plain<uint64_t>), KW_ROW_CMP(op, cmp, "s64", Plain<int64_t>)
#define KW_ROWS_CMP_FLOAT(op, cmp)                                                     \
  KW_ROW_CMP(op, cmp, "f32", Plain<float>), KW_ROW_CMP(op, cmp, "f64", Plain<double>), \
      KW_ROW_CMP(op ".ftz", cmp, "f32", FlushF32),                                     \
      KW_ROW_CMP(op, cmp, "f16", Half<numeric::Fp16, false, -1>),                      \
      KW_ROW_CMP(op ".ftz", cmp, "f16", Half<numeric::Fp16, true, -1>),                \
      KW_ROW_CMP(op, cmp, "bf16", Half<numeric::Bf16, false, -1>),                     \
      KW_ROW_CMP_PAIR(op, cmp, "f16x2", HalfLow, HalfHigh),                            \
      KW_ROW_CMP_PAIR(op ".ftz", cmp, "f16x2", HalfLowFtz, HalfHighFtz),               \
      KW_ROW_CMP_PAIR(op, cmp, "bf16x2", BfLow, BfHigh)
#define KW_ROWS_TESTP(name, cls) \
  {"testp." name ".f32", testp<uint32_t, cls>}, { "testp." name ".f64", testp<uint64_t, cls> }

constexpr Row kRows[] = {
    KW_ROWS_CMP_INT("eq", Cmp::Eq),         KW_ROWS_CMP_INT("ne", Cmp::Ne),
    KW_ROWS_CMP_INT("lt", Cmp::Lt),         KW_ROWS_CMP_INT("le", Cmp::Le),
    KW_ROWS_CMP_INT("gt", Cmp::Gt),         KW_ROWS_CMP_INT("ge", Cmp::Ge),
    KW_ROWS_CMP_FLOAT("eq", Cmp::Eq),       KW_ROWS_CMP_FLOAT("ne", Cmp::Ne),
    KW_ROWS_CMP_FLOAT("lt", Cmp::Lt),       KW_ROWS_CMP_FLOAT("le", Cmp::Le),
    KW_ROWS_CMP_FLOAT("gt", Cmp::Gt),       KW_ROWS_CMP_FLOAT("ge", Cmp::Ge),
    KW_ROWS_CMP_FLOAT("equ", Cmp::Equ),     KW_ROWS_CMP_FLOAT("neu", Cmp::Neu),
    KW_ROWS_CMP_FLOAT("ltu", Cmp::Ltu),     KW_ROWS_CMP_FLOAT("leu", Cmp::Leu),
    KW_ROWS_CMP_FLOAT("gtu", Cmp::Gtu),     KW_ROWS_CMP_FLOAT("geu", Cmp::Geu),
    KW_ROWS_CMP_FLOAT("num", Cmp::Num),     KW_ROWS_CMP_FLOAT("nan", Cmp::Nan),
    KW_ROWS_TESTP("finite", Class::Finite), KW_ROWS_TESTP("infinite", Class::Infinite),
    KW_ROWS_TESTP("number", Class::Number), KW_ROWS_TESTP("notanumber", Class::NotANumber),
    KW_ROWS_TESTP("normal", Class::Normal), KW_ROWS_TESTP("subnormal", Class::Subnormal),
};

}  // namespace

std::span<const Row> compare_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
