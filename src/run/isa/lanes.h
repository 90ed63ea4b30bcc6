// Lane loops: turn a function of one lane's values into an AluFn over 32 lanes. Only for the
// sources compiled once per x86-64 level. Everything here is in that level's namespace, so that the
// linker never mixes levels.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "isa/alu.h"
#include "numeric/level.h"

#ifndef KW_SIMD_LEVEL
#define KW_SIMD_LEVEL portable  // only so that this header compiles alone
#endif

namespace kw::isa::KW_SIMD_LEVEL {

inline constexpr int kLanes = 32;

/// The bit of each lane in a mask, as a table. Testing against it vectorises on every level;
/// variable shifts do not.
alignas(64) inline constexpr uint32_t kLaneBit[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

template <class T>
struct Aliased {
  typedef T type __attribute__((may_alias));
};
template <>
struct Aliased<bool> {};

/// The lanes of one register as values of type T.
template <class T>
KW_LANE typename Aliased<T>::type* lanes(std::byte* file, uint32_t offset) {
  using Value = typename Aliased<T>::type;
  return static_cast<Value*>(__builtin_assume_aligned(static_cast<void*>(file + offset), 64));
}

KW_LANE uint32_t& predicate(std::byte* file, uint32_t offset) {
  typedef uint32_t Mask __attribute__((may_alias));
  return *reinterpret_cast<Mask*>(file + offset);
}

/// A source predicate with its `!` applied.
KW_LANE uint32_t source_mask(std::byte* file, const AluArgs& args, int source) {
  const uint32_t flip = 0u - ((args.negate >> source) & 1u);
  return predicate(file, args.src[source]) ^ flip;
}

KW_LANE void set_predicate(std::byte* file, uint32_t offset, uint32_t value, uint32_t mask) {
  uint32_t& p = predicate(file, offset);
  p = (p & ~mask) | (value & mask);
}

/// Destination and sources are the same register or disjoint, never partly overlapping. So lanes
/// are independent.
template <class T, class Fn>
KW_LANE void store_lanes(typename Aliased<T>::type* d, uint32_t mask, Fn&& value) {
  if (mask == ~0u) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) d[i] = value(i);
  } else {
    alignas(64) T result[kLanes];
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) result[i] = value(i);
    // g++ 12 has an internal error when it merges a 16-bit minimum or maximum with the blend. This
    // separates them.
    if constexpr (sizeof(T) == 2) asm("" : "+m"(result));
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i)
      d[i] = (mask & kLaneBit[i]) != 0 ? result[i] : static_cast<T>(d[i]);
  }
}

/// d = kFn(a), kFn(a, b), …: the lane types are those of the function's signature.
template <auto kFn>
struct Map;
template <class D, class A, D (*kFn)(A)>
struct Map<kFn> {
  static void run(std::byte* file, const AluArgs& args, uint32_t mask) {
    const auto* a = lanes<A>(file, args.src[0]);
    store_lanes<D>(lanes<D>(file, args.dst[0]), mask, [=](int i) { return kFn(a[i]); });
  }
};
template <class D, class A, class B, D (*kFn)(A, B)>
struct Map<kFn> {
  static void run(std::byte* file, const AluArgs& args, uint32_t mask) {
    const auto* a = lanes<A>(file, args.src[0]);
    const auto* b = lanes<B>(file, args.src[1]);
    store_lanes<D>(lanes<D>(file, args.dst[0]), mask, [=](int i) { return kFn(a[i], b[i]); });
  }
};
template <class D, class A, class B, class C, D (*kFn)(A, B, C)>
struct Map<kFn> {
  static void run(std::byte* file, const AluArgs& args, uint32_t mask) {
    const auto* a = lanes<A>(file, args.src[0]);
    const auto* b = lanes<B>(file, args.src[1]);
    const auto* c = lanes<C>(file, args.src[2]);
    store_lanes<D>(lanes<D>(file, args.dst[0]), mask, [=](int i) { return kFn(a[i], b[i], c[i]); });
  }
};
template <class D, class A, class B, class C, class E, D (*kFn)(A, B, C, E)>
struct Map<kFn> {
  static void run(std::byte* file, const AluArgs& args, uint32_t mask) {
    const auto* a = lanes<A>(file, args.src[0]);
    const auto* b = lanes<B>(file, args.src[1]);
    const auto* c = lanes<C>(file, args.src[2]);
    const auto* e = lanes<E>(file, args.src[3]);
    store_lanes<D>(lanes<D>(file, args.dst[0]), mask,
                   [=](int i) { return kFn(a[i], b[i], c[i], e[i]); });
  }
};
template <auto kFn>
inline constexpr AluFn map = &Map<kFn>::run;

}  // namespace kw::isa::KW_SIMD_LEVEL
