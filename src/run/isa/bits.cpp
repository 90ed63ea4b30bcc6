// Logic, shifts, bit fields, byte permutes and packed dot products. The ISA leaves some operands
// undefined, such as fields beyond 255; here they give what hardware gives. Functions work on one
// lane and avoid branches that depend on data, so the compiler can vectorise the loop over lanes.
// popc and brev use bit tricks for the same reason: the lower levels have no vector instruction for
// them. The cost is more instructions per lane than one scalar builtin.
#include <limits>
#include <type_traits>

#include "isa/lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

template <class T>
inline constexpr uint32_t kWidth = 8 * sizeof(T);

template <class T>
KW_LANE T bit_and(T a, T b) {
  return a & b;
}
template <class T>
KW_LANE T bit_or(T a, T b) {
  return a | b;
}
template <class T>
KW_LANE T bit_xor(T a, T b) {
  return a ^ b;
}
template <class T>
KW_LANE T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T>
KW_LANE T cnot(T a) {
  return a == 0 ? T(1) : T(0);
}

enum class Logic { And, Or, Xor };
template <Logic kLogic>
KW_LANE uint32_t combine(uint32_t a, uint32_t b) {
  return kLogic == Logic::And ? a & b : kLogic == Logic::Or ? a | b : a ^ b;
}
template <Logic kLogic>
void pred_logic(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t value = combine<kLogic>(source_mask(file, args, 0), source_mask(file, args, 1));
  set_predicate(file, args.dst[0], value, mask);
}
template <bool kInvert>
void pred_move(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t value = source_mask(file, args, 0);
  set_predicate(file, args.dst[0], kInvert ? ~value : value, mask);
}

/// aux: the truth table, indexed by the bits a, b, c as 4, 2, 1.
KW_LANE uint32_t look_up(uint32_t table, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t chosen = 0u - ((table >> k) & 1u);
    result |= chosen & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  }
  return result;
}
void lop3(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto *a = lanes<uint32_t>(file, args.src[0]), *b = lanes<uint32_t>(file, args.src[1]),
             *c = lanes<uint32_t>(file, args.src[2]);
  const uint32_t table = args.aux;
  store_lanes<uint32_t>(lanes<uint32_t>(file, args.dst[0]), mask,
                        [=](int i) { return look_up(table, a[i], b[i], c[i]); });
}
template <Logic kLogic>
void lop3_pred(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t q = source_mask(file, args, 3);
  uint32_t nonzero = 0;
  const auto *a = lanes<uint32_t>(file, args.src[0]), *b = lanes<uint32_t>(file, args.src[1]),
             *c = lanes<uint32_t>(file, args.src[2]);
  for (int i = 0; i < kLanes; ++i)
    nonzero |= static_cast<uint32_t>(look_up(args.aux, a[i], b[i], c[i]) != 0) << i;
  lop3(file, args, mask);
  set_predicate(file, args.dst[1], combine<kLogic>(nonzero, q), mask);
}

// Shift amounts are unsigned 32-bit; an amount beyond the width shifts everything out.
template <class T>
KW_LANE T shl(T a, uint32_t n) {
  return n < kWidth<T> ? static_cast<T>(a << (n & (kWidth<T> - 1))) : T(0);
}
template <class T>
KW_LANE T shr(T a, uint32_t n) {
  const uint32_t limited = n < kWidth<T> ? n : kWidth<T> - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> limited);
  return n < kWidth<T> ? static_cast<T>(a >> limited) : T(0);
}
template <bool kLeft, bool kWrap>
KW_LANE uint32_t funnel(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t n = kWrap ? c & 31 : (c < 32 ? c : 32);
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  return static_cast<uint32_t>(kLeft ? (both << n) >> 32 : both >> n);
}

KW_LANE uint32_t popc32(uint32_t x) {
  x = x - ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  return (x * 0x01010101u) >> 24;
}
KW_LANE uint32_t popc64(uint64_t x) {
  return popc32(static_cast<uint32_t>(x)) + popc32(static_cast<uint32_t>(x >> 32));
}
template <class T>
KW_LANE uint32_t clz(T x) {
  return static_cast<uint32_t>(std::countl_zero(x));
}
/// The position of the highest bit that is not a copy of the sign. With kShift: its distance from
/// the top.
template <class T, bool kShift>
KW_LANE uint32_t bfind(T a) {
  using U = std::make_unsigned_t<T>;
  const U x = static_cast<U>(a < 0 ? ~a : a);
  const uint32_t leading = static_cast<uint32_t>(std::countl_zero(x));
  return x == 0 ? ~0u : kShift ? leading : kWidth<T> - 1 - leading;
}
KW_LANE uint32_t brev32(uint32_t x) {
  x = (x & 0x55555555u) << 1 | ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) << 2 | ((x >> 2) & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | ((x >> 4) & 0x0f0f0f0fu);
  x = (x & 0x00ff00ffu) << 8 | ((x >> 8) & 0x00ff00ffu);
  return x << 16 | x >> 16;
}
KW_LANE uint64_t brev64(uint64_t x) {
  return static_cast<uint64_t>(brev32(static_cast<uint32_t>(x))) << 32 |
         brev32(static_cast<uint32_t>(x >> 32));
}
/// The n-th set bit of `bits` counted from `base` upwards (offset > 0) or downwards, or ~0. The
/// smallest offset, which has no positive counterpart, gives 0 on hardware.
KW_LANE uint32_t fns(uint32_t bits, uint32_t base, int32_t offset) {
  const int64_t step = offset < 0 ? -1 : 1;
  int64_t left = offset == 0 ? 1 : step * offset;
  const int64_t last = offset == 0 ? base : step > 0 ? 31 : 0;
  uint32_t found = ~0u;
  for (int64_t at = base; at >= 0 && at < 32 && found == ~0u; at += step) {
    left -= (bits >> at) & 1;
    if (left == 0 && ((bits >> at) & 1) != 0) found = static_cast<uint32_t>(at);
    if (at == last) break;
  }
  return offset == std::numeric_limits<int32_t>::min() ? 0 : found;
}

template <class U>
KW_LANE U low_ones(uint32_t count) {
  return count >= kWidth<U> ? static_cast<U>(~U(0))
                            : static_cast<U>((U(1) << (count & (kWidth<U> - 1))) - 1);
}
/// Position and length of a bit field are in 0..255. For larger values hardware uses the low byte
/// for 32-bit fields and all bits for 64-bit ones.
template <class T>
KW_LANE uint32_t field_operand(uint32_t x) {
  if constexpr (sizeof(T) == 4) return x & 0xff;
  return x < 0xff ? x : 0xff;
}
template <class T>
KW_LANE T bfe(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  const uint32_t position = field_operand<T>(b), length = field_operand<T>(c), top = kWidth<T> - 1;
  const U bits = static_cast<U>(a);
  const U shifted = position > top ? U(0) : static_cast<U>(bits >> (position & top));
  const uint32_t sign_at = position + length - 1 < top ? position + length - 1 : top;
  const bool sign = std::is_signed_v<T> && length != 0 && ((bits >> (sign_at & top)) & 1) != 0;
  // Above the top bit, a field is filled with the sign.
  const uint32_t inside =
      position > top ? 0 : (length < top + 1 - position ? length : top + 1 - position);
  const U ones = low_ones<U>(inside);
  return static_cast<T>((shifted & ones) | (sign ? static_cast<U>(~ones) : U(0)));
}
template <class U>
KW_LANE U bfi(U a, U b, uint32_t c, uint32_t d) {
  const uint32_t position = field_operand<U>(c), length = field_operand<U>(d), top = kWidth<U> - 1;
  const U ones = position > top ? U(0) : static_cast<U>(low_ones<U>(length) << (position & top));
  const U moved = static_cast<U>(a << (position & top));
  return static_cast<U>((b & ~ones) | (moved & ones));
}
template <bool kWrap>
KW_LANE uint32_t bmsk(uint32_t a, uint32_t b) {
  const uint32_t from = a & 31, width = kWrap ? b & 31 : b;
  const uint32_t ones = low_ones<uint32_t>(width) << from;
  return !kWrap && a > 31 ? 0 : ones;
}
template <class T, bool kWrap>
KW_LANE T szext(T a, uint32_t b) {
  const uint32_t width = kWrap ? b & 31 : (b < 32 ? b : 32);
  const uint32_t shift = 32 - width;
  const T extended =
      static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (shift & 31)) >> (shift & 31));
  return width == 0 ? T(0) : extended;
}

/// The selector has one nibble per result byte.
KW_LANE uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k) {
    const uint32_t control = selector >> (4 * k);
    const uint32_t byte = static_cast<uint32_t>(both >> (8 * (control & 7))) & 0xff;
    const uint32_t sign = 0u - (byte >> 7);
    result |= ((control & 8 ? sign : byte) & 0xff) << (8 * k);
  }
  return result;
}
KW_LANE uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c & 0xffff); }
/// Each named mode has four selectors; the two low bits of c choose one.
template <uint64_t kSelectors>
KW_LANE uint32_t prmt_mode(uint32_t a, uint32_t b, uint32_t c) {
  return permute(a, b, static_cast<uint32_t>(kSelectors >> (16 * (c & 3))) & 0xffff);
}

template <class T>
KW_LANE int32_t byte_of(uint32_t x, int k) {
  using Byte = std::conditional_t<std::is_signed_v<T>, int8_t, uint8_t>;
  return static_cast<Byte>(x >> (8 * k));
}
template <class A, class B>
KW_LANE uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  int32_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += byte_of<A>(a, k) * byte_of<B>(b, k);
  return c + static_cast<uint32_t>(sum);
}
template <class A, class B, bool kHigh>
KW_LANE uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  using Half = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  int32_t sum = 0;
  for (int k = 0; k < 2; ++k)
    sum += static_cast<Half>(a >> (16 * k)) * byte_of<B>(b, k + (kHigh ? 2 : 0));
  return c + static_cast<uint32_t>(sum);
}

/// The absolute difference of each pair of bytes: as bytes, or added to c.
template <class A, class B, bool kSum>
KW_LANE uint32_t absolute_differences(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = kSum ? c : 0;
  for (int k = 0; k < 4; ++k) {
    const int32_t difference = byte_of<A>(a, k) - byte_of<B>(b, k);
    const uint32_t magnitude = static_cast<uint32_t>(difference < 0 ? -difference : difference);
    result += kSum ? magnitude : (magnitude & 0xff) << (8 * k);
  }
  return result;
}

#define KW_ROWS_BITS(name, fn)                                          \
  {name ".b16", map<fn<uint16_t>>}, {name ".b32", map<fn<uint32_t>>}, { \
    name ".b64", map<fn<uint64_t>>                                      \
  }
#define KW_ROWS_DOT(name, fn, ...)                                                \
  {name ".s32.s32", map<fn<int32_t, int32_t __VA_OPT__(, ) __VA_ARGS__>>},        \
      {name ".s32.u32", map<fn<int32_t, uint32_t __VA_OPT__(, ) __VA_ARGS__>>},   \
      {name ".u32.s32", map<fn<uint32_t, int32_t __VA_OPT__(, ) __VA_ARGS__>>}, { \
    name ".u32.u32", map<fn<uint32_t, uint32_t __VA_OPT__(, ) __VA_ARGS__>>       \
  }
#define KW_ROWS_BFIND(name, shift)                                                       \
  {name ".u32", map<bfind<uint32_t, shift>>}, {name ".s32", map<bfind<int32_t, shift>>}, \
      {name ".u64", map<bfind<uint64_t, shift>>}, {                                      \
    name ".s64", map<bfind<int64_t, shift>>                                              \
  }

constexpr Row kRows[] = {
    KW_ROWS_BITS("and", bit_and),
    KW_ROWS_BITS("or", bit_or),
    KW_ROWS_BITS("xor", bit_xor),
    KW_ROWS_BITS("not", bit_not),
    KW_ROWS_BITS("cnot", cnot),
    {"and.pred", pred_logic<Logic::And>},
    {"or.pred", pred_logic<Logic::Or>},
    {"xor.pred", pred_logic<Logic::Xor>},
    {"not.pred", pred_move<true>},
    {"mov.pred", pred_move<false>},
    {"lop3.b32", lop3},
    {"lop3.and.b32", lop3_pred<Logic::And>},
    {"lop3.or.b32", lop3_pred<Logic::Or>},
    KW_ROWS_BITS("shl", shl),
    KW_ROWS_BITS("shr", shr),
    {"shr.s16", map<shr<int16_t>>},
    {"shr.s32", map<shr<int32_t>>},
    {"shr.s64", map<shr<int64_t>>},
    {"shf.l.wrap.b32", map<funnel<true, true>>},
    {"shf.l.clamp.b32", map<funnel<true, false>>},
    {"shf.r.wrap.b32", map<funnel<false, true>>},
    {"shf.r.clamp.b32", map<funnel<false, false>>},
    {"popc.b32", map<popc32>},
    {"popc.b64", map<popc64>},
    {"clz.b32", map<clz<uint32_t>>},
    {"clz.b64", map<clz<uint64_t>>},
    KW_ROWS_BFIND("bfind", false),
    KW_ROWS_BFIND("bfind.shiftamt", true),
    {"brev.b32", map<brev32>},
    {"brev.b64", map<brev64>},
    {"fns.b32", map<fns>},
    {"bfe.u32", map<bfe<uint32_t>>},
    {"bfe.s32", map<bfe<int32_t>>},
    {"bfe.u64", map<bfe<uint64_t>>},
    {"bfe.s64", map<bfe<int64_t>>},
    {"bfi.b32", map<bfi<uint32_t>>},
    {"bfi.b64", map<bfi<uint64_t>>},
    {"bmsk.clamp.b32", map<bmsk<false>>},
    {"bmsk.wrap.b32", map<bmsk<true>>},
    {"szext.clamp.u32", map<szext<uint32_t, false>>},
    {"szext.clamp.s32", map<szext<int32_t, false>>},
    {"szext.wrap.u32", map<szext<uint32_t, true>>},
    {"szext.wrap.s32", map<szext<int32_t, true>>},
    {"prmt.b32", map<prmt>},
    {"prmt.b32.f4e", map<prmt_mode<0x6543'5432'4321'3210>>},
    {"prmt.b32.b4e", map<prmt_mode<0x0123'7012'6701'5670>>},
    {"prmt.b32.rc8", map<prmt_mode<0x3333'2222'1111'0000>>},
    {"prmt.b32.ecl", map<prmt_mode<0x3333'3222'3211'3210>>},
    {"prmt.b32.ecr", map<prmt_mode<0x3210'2210'1110'0000>>},
    {"prmt.b32.rc16", map<prmt_mode<0x3232'1010'3232'1010>>},
    KW_ROWS_DOT("dp4a", dp4a),
    KW_ROWS_DOT("dp2a.lo", dp2a, false),
    KW_ROWS_DOT("dp2a.hi", dp2a, true),
    KW_ROWS_DOT("vabsdiff4", absolute_differences, false),
    KW_ROWS_DOT("vabsdiff4.add", absolute_differences, true),
};

}  // namespace

std::span<const Row> bit_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
