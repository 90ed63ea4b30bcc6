// Integer arithmetic. PTX integers wrap, but overflow of signed C++ integers is undefined, so all
// sums and products are computed in unsigned types. Signedness is in the function. Everything must
// vectorise: a 64-bit high product is four 32-bit ones instead of a 128-bit one, and 32-bit
// division goes through double, which is exact. Division by zero is undefined in PTX; it gives all
// ones, as hardware does. Carry chains keep the condition code as a lane mask, since PTX gives it
// no register.
#include <type_traits>

#include "isa/lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
KW_LANE T add(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T>
KW_LANE T sub(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
}
KW_LANE int32_t clamp_s32(int64_t x) {
  const int64_t low = x < INT32_MIN ? INT32_MIN : x;
  return static_cast<int32_t>(low > INT32_MAX ? INT32_MAX : low);
}
KW_LANE int32_t add_sat(int32_t a, int32_t b) { return clamp_s32(int64_t(a) + b); }
KW_LANE int32_t sub_sat(int32_t a, int32_t b) { return clamp_s32(int64_t(a) - b); }

template <class T>
struct Wider;
template <>
struct Wider<uint16_t> {
  using type = uint32_t;
};
template <>
struct Wider<int16_t> {
  using type = int32_t;
};
template <>
struct Wider<uint32_t> {
  using type = uint64_t;
};
template <>
struct Wider<int32_t> {
  using type = int64_t;
};
template <class T>
using Wide = typename Wider<T>::type;

template <class T>
KW_LANE T mul_lo(T a, T b) {
  // 16-bit operands are promoted to int, whose product could overflow. So they are multiplied as
  // 32-bit unsigned.
  using U = std::conditional_t<sizeof(T) == 2, uint32_t, Unsigned<T>>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}
template <class T>
KW_LANE T mul_hi(T a, T b) {
  return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
}
KW_LANE uint64_t high_part(uint64_t a, uint64_t b) {
  // Four 32-bit products vectorise; a 128-bit product does not.
  const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
  const uint64_t low = al * bl, cross = ah * bl, other = al * bh;
  const uint64_t middle = (low >> 32) + (cross & 0xffffffffu) + (other & 0xffffffffu);
  return ah * bh + (cross >> 32) + (other >> 32) + (middle >> 32);
}
template <>
KW_LANE uint64_t mul_hi<uint64_t>(uint64_t a, uint64_t b) {
  return high_part(a, b);
}
template <>
KW_LANE int64_t mul_hi<int64_t>(int64_t a, int64_t b) {
  const uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const uint64_t correction = (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
  return static_cast<int64_t>(high_part(ua, ub) - correction);
}
template <class T>
KW_LANE Wide<T> mul_wide(T a, T b) {
  return static_cast<Wide<T>>(Wide<T>(a) * Wide<T>(b));
}
template <class T>
KW_LANE T mad_lo(T a, T b, T c) {
  return add<T>(mul_lo<T>(a, b), c);
}
template <class T>
KW_LANE T mad_hi(T a, T b, T c) {
  return add<T>(mul_hi<T>(a, b), c);
}
KW_LANE int32_t mad_hi_sat(int32_t a, int32_t b, int32_t c) {
  return add_sat(mul_hi<int32_t>(a, b), c);
}
template <class T>
KW_LANE Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return add<Wide<T>>(mul_wide<T>(a, b), c);
}

template <class T>
KW_LANE T low24(T x) {
  return static_cast<T>(static_cast<T>(static_cast<uint32_t>(x) << 8) >> 8);
}
template <class T>
KW_LANE T mul24_lo(T a, T b) {
  return mul_lo<T>(low24(a), low24(b));
}
template <class T>
KW_LANE T mul24_hi(T a, T b) {
  return static_cast<T>((Wide<T>(low24(a)) * low24(b)) >> 16);
}
template <class T>
KW_LANE T mad24_lo(T a, T b, T c) {
  return add<T>(mul24_lo<T>(a, b), c);
}
template <class T>
KW_LANE T mad24_hi(T a, T b, T c) {
  return add<T>(mul24_hi<T>(a, b), c);
}
KW_LANE int32_t mad24_hi_sat(int32_t a, int32_t b, int32_t c) {
  return add_sat(mul24_hi<int32_t>(a, b), c);
}

template <class T>
KW_LANE T sad(T a, T b, T c) {
  const Unsigned<T> ua = static_cast<Unsigned<T>>(a), ub = static_cast<Unsigned<T>>(b);
  const Unsigned<T> difference = static_cast<Unsigned<T>>(a < b ? ub - ua : ua - ub);
  return static_cast<T>(Unsigned<T>(c) + difference);
}

// Division by zero is undefined in PTX. The software routines for hardware give all ones, for rem
// too.
template <class T>
KW_LANE T quotient(T a, T b) {
  if constexpr (sizeof(T) == 4) {
    // Exact in binary64: a quotient that is not an integer is at least 2^-32 away from one,
    // relatively. The shifted sum holds the integer in its low bits, also for INT_MIN / -1.
    const double q = __builtin_trunc(static_cast<double>(a) / static_cast<double>(b));
    return static_cast<T>(std::bit_cast<uint64_t>(q + 0x1.8p52));
  } else if constexpr (std::is_signed_v<T>) {
    return b == T(-1) ? static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a)) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}
template <class T>
KW_LANE T div(T a, T b) {
  const T result = quotient<T>(a, b == 0 ? T(1) : b);
  return b == 0 ? static_cast<T>(-1) : result;
}
template <class T>
KW_LANE T rem(T a, T b) {
  const T divisor = b == 0 ? T(1) : b;
  const T result = sub<T>(a, mul_lo<T>(quotient<T>(a, divisor), divisor));
  return b == 0 ? static_cast<T>(-1) : result;
}

template <class T>
KW_LANE T neg(T a) {
  return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
}
template <class T>
KW_LANE T absolute(T a) {
  return a < 0 ? neg<T>(a) : a;
}
template <class T>
KW_LANE T minimum(T a, T b) {
  return a < b ? a : b;
}
template <class T>
KW_LANE T maximum(T a, T b) {
  return a > b ? a : b;
}
template <class T>
KW_LANE T min_relu(T a, T b) {
  return maximum<T>(minimum<T>(a, b), T(0));
}
template <class T>
KW_LANE T max_relu(T a, T b) {
  return maximum<T>(maximum<T>(a, b), T(0));
}

/// Applies the function to both 16-bit halves.
template <class T, T (*kFn)(T, T)>
KW_LANE uint32_t halves(uint32_t a, uint32_t b) {
  const uint32_t low = static_cast<uint16_t>(kFn(static_cast<T>(a), static_cast<T>(b)));
  const uint32_t high =
      static_cast<uint16_t>(kFn(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return low | high << 16;
}

// Carry chains: the condition code is a lane mask. The carry of a subtraction is a borrow.
enum class Carry { Out, In, InOut };

template <class T, Carry kCarry, bool kSubtract>
KW_LANE void add_with_carry(std::byte* file, const AluArgs& args, uint32_t mask, const T* a,
                            const T* b) {
  const uint32_t in = kCarry == Carry::Out ? 0 : predicate(file, args.carry);
  uint32_t out = 0;
  auto* d = lanes<T>(file, args.dst[0]);
  alignas(64) T result[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const T c = static_cast<T>((in >> i) & 1);
    const T x = a[i], y = b[i];
    const T first = kSubtract ? x - y : x + y;
    const T sum = kSubtract ? first - c : first + c;
    const bool carried = kSubtract ? (x < y) | (first < c) : (first < x) | (sum < first);
    out |= static_cast<uint32_t>(carried) << i;
    result[i] = sum;
  }
  store_lanes<T>(d, mask, [&](int i) { return result[i]; });
  if (kCarry != Carry::In) set_predicate(file, args.carry, out, mask);
}
template <class T, Carry kCarry, bool kSubtract>
void carry_add(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) T a[kLanes], b[kLanes];
  for (int i = 0; i < kLanes; ++i) a[i] = lanes<T>(file, args.src[0])[i];
  for (int i = 0; i < kLanes; ++i) b[i] = lanes<T>(file, args.src[1])[i];
  add_with_carry<T, kCarry, kSubtract>(file, args, mask, a, b);
}
/// S gives the signedness of the product, which matters for hi. T holds the bits.
template <class S, Carry kCarry, bool kHigh>
void carry_mad(std::byte* file, const AluArgs& args, uint32_t mask) {
  using T = Unsigned<S>;
  alignas(64) T product[kLanes], c[kLanes];
  const auto* a = lanes<S>(file, args.src[0]);
  const auto* b = lanes<S>(file, args.src[1]);
  for (int i = 0; i < kLanes; ++i)
    product[i] = static_cast<T>(kHigh ? mul_hi<S>(a[i], b[i]) : mul_lo<S>(a[i], b[i]));
  for (int i = 0; i < kLanes; ++i) c[i] = lanes<T>(file, args.src[2])[i];
  add_with_carry<T, kCarry, false>(file, args, mask, product, c);
}

#define KW_ROWS_SIGNED(name, fn)                                      \
  {name ".s16", map<fn<int16_t>>}, {name ".s32", map<fn<int32_t>>}, { \
    name ".s64", map<fn<int64_t>>                                     \
  }
#define KW_ROWS_ALL(name, fn)                                                                     \
  KW_ROWS_SIGNED(name, fn), {name ".u16", map<fn<uint16_t>>}, {name ".u32", map<fn<uint32_t>>}, { \
    name ".u64", map<fn<uint64_t>>                                                                \
  }
#define KW_ROWS_WIDE(name, fn)                                      \
  {name ".s16", map<fn<int16_t>>}, {name ".s32", map<fn<int32_t>>}, \
      {name ".u16", map<fn<uint16_t>>}, {                           \
    name ".u32", map<fn<uint32_t>>                                  \
  }
#define KW_ROWS_24(name, fn) \
  {name ".s32", map<fn<int32_t>>}, { name ".u32", map<fn<uint32_t>> }
#define KW_ROWS_CARRY(name, code, subtract)             \
  {name ".b32", carry_add<uint32_t, code, subtract>}, { \
    name ".b64", carry_add<uint64_t, code, subtract>    \
  }
#define KW_ROWS_CARRY_MAD(name, code, high)                                                      \
  {name ".s32", carry_mad<int32_t, code, high>}, {name ".u32", carry_mad<uint32_t, code, high>}, \
      {name ".s64", carry_mad<int64_t, code, high>}, {                                           \
    name ".u64", carry_mad<uint64_t, code, high>                                                 \
  }

constexpr Row kRows[] = {
    KW_ROWS_ALL("add", add),
    KW_ROWS_ALL("sub", sub),
    {"add.sat.s32", map<add_sat>},
    {"sub.sat.s32", map<sub_sat>},
    {"add.u16x2", map<halves<uint16_t, add<uint16_t>>>},
    {"add.s16x2", map<halves<int16_t, add<int16_t>>>},
    KW_ROWS_ALL("mul.lo", mul_lo),
    KW_ROWS_ALL("mul.hi", mul_hi),
    KW_ROWS_WIDE("mul.wide", mul_wide),
    KW_ROWS_ALL("mad.lo", mad_lo),
    KW_ROWS_ALL("mad.hi", mad_hi),
    KW_ROWS_WIDE("mad.wide", mad_wide),
    {"mad.hi.sat.s32", map<mad_hi_sat>},
    KW_ROWS_24("mul24.lo", mul24_lo),
    KW_ROWS_24("mul24.hi", mul24_hi),
    KW_ROWS_24("mad24.lo", mad24_lo),
    KW_ROWS_24("mad24.hi", mad24_hi),
    {"mad24.hi.sat.s32", map<mad24_hi_sat>},
    KW_ROWS_ALL("sad", sad),
    KW_ROWS_ALL("div", div),
    KW_ROWS_ALL("rem", rem),
    KW_ROWS_SIGNED("neg", neg),
    KW_ROWS_SIGNED("abs", absolute),
    KW_ROWS_ALL("min", minimum),
    KW_ROWS_ALL("max", maximum),
    {"min.relu.s32", map<min_relu<int32_t>>},
    {"max.relu.s32", map<max_relu<int32_t>>},
    {"min.u16x2", map<halves<uint16_t, minimum<uint16_t>>>},
    {"max.u16x2", map<halves<uint16_t, maximum<uint16_t>>>},
    {"min.s16x2", map<halves<int16_t, minimum<int16_t>>>},
    {"max.s16x2", map<halves<int16_t, maximum<int16_t>>>},
    {"min.relu.s16x2", map<halves<int16_t, min_relu<int16_t>>>},
    {"max.relu.s16x2", map<halves<int16_t, max_relu<int16_t>>>},
    KW_ROWS_CARRY("add.cc", Carry::Out, false),
    KW_ROWS_CARRY("addc", Carry::In, false),
    KW_ROWS_CARRY("addc.cc", Carry::InOut, false),
    KW_ROWS_CARRY("sub.cc", Carry::Out, true),
    KW_ROWS_CARRY("subc", Carry::In, true),
    KW_ROWS_CARRY("subc.cc", Carry::InOut, true),
    KW_ROWS_CARRY_MAD("mad.lo.cc", Carry::Out, false),
    KW_ROWS_CARRY_MAD("mad.hi.cc", Carry::Out, true),
    KW_ROWS_CARRY_MAD("madc.lo", Carry::In, false),
    KW_ROWS_CARRY_MAD("madc.hi", Carry::In, true),
    KW_ROWS_CARRY_MAD("madc.lo.cc", Carry::InOut, false),
    KW_ROWS_CARRY_MAD("madc.hi.cc", Carry::InOut, true),
};

}  // namespace

std::span<const Row> integer_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
