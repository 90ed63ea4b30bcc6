// mov with its packing and unpacking forms, selp, slct. Rows are named by widths: the bits are not
// interpreted.
#include "isa/float_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

template <class T>
KW_LANE T copy(T a) {
  return a;
}
void copy128(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto* a = lanes<uint64_t>(file, args.src[0]);
  auto* d = lanes<uint64_t>(file, args.dst[0]);
  for (int i = 0; i < 2 * kLanes; ++i)
    if ((mask & kLaneBit[i / 2]) != 0) d[i] = a[i];
}

template <class T>
void select(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t p = source_mask(file, args, 2);
  const auto *a = lanes<T>(file, args.src[0]), *b = lanes<T>(file, args.src[1]);
  store_lanes<T>(lanes<T>(file, args.dst[0]), mask,
                 [=](int i) { return (p & kLaneBit[i]) != 0 ? T(a[i]) : T(b[i]); });
}
template <class T>
KW_LANE T choose_s32(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}
template <class T>
KW_LANE T choose_f32(T a, T b, float c) {  // -0 counts as >= 0, NaN does not
  return c >= 0.0f ? a : b;
}
template <class T>
KW_LANE T choose_ftz(T a, T b, float c) {
  return flush(c) >= 0.0f ? a : b;
}

/// Packs `kCount` elements of `kBits` each into one register, the first in the low bits. Elements
/// are in registers of type S.
template <class D, class S, int kBits, int kCount>
void pack(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto *a = lanes<S>(file, args.src[0]), *b = lanes<S>(file, args.src[1]);
  const auto* c = lanes<S>(file, args.src[kCount == 4 ? 2 : 0]);
  const auto* e = lanes<S>(file, args.src[kCount == 4 ? 3 : 0]);
  const auto part = [](S x, int k) {
    const D low =
        kBits < 8 * static_cast<int>(sizeof(S)) ? D(x & ((S(1) << (kBits % 64)) - 1)) : D(x);
    return static_cast<D>(low << (kBits * k));
  };
  store_lanes<D>(lanes<D>(file, args.dst[0]), mask, [=](int i) {
    D result = static_cast<D>(part(a[i], 0) | part(b[i], 1));
    if constexpr (kCount == 4) result = static_cast<D>(result | part(c[i], 2) | part(e[i], 3));
    return result;
  });
}
template <class D, class S, int kBits, int kCount>
void unpack(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) S value[kLanes];
  for (int i = 0; i < kLanes; ++i) value[i] = lanes<S>(file, args.src[0])[i];
  for (int k = 0; k < kCount; ++k) {
    store_lanes<D>(lanes<D>(file, args.dst[k]), mask, [&](int i) {
      const S part = value[i] >> (kBits * k);
      return static_cast<D>(kBits < 8 * static_cast<int>(sizeof(D)) ? part & ((S(1) << kBits) - 1)
                                                                    : part);
    });
  }
}

// A 128-bit register has two 64-bit halves per lane.
template <class S, int kCount>
void pack128(std::byte* file, const AluArgs& args, uint32_t mask) {
  auto* d = lanes<S>(file, args.dst[0]);
  for (int k = 0; k < kCount; ++k) {
    const auto* a = lanes<S>(file, args.src[k]);
    for (int i = 0; i < kLanes; ++i)
      if ((mask & kLaneBit[i]) != 0) d[kCount * i + k] = a[i];
  }
}
template <class D, int kCount>
void unpack128(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto* a = lanes<D>(file, args.src[0]);
  for (int k = 0; k < kCount; ++k) {
    auto* d = lanes<D>(file, args.dst[k]);
    for (int i = 0; i < kLanes; ++i)
      if ((mask & kLaneBit[i]) != 0) d[i] = a[kCount * i + k];
  }
}

constexpr Row kRows[] = {
    {"mov.16", map<copy<uint16_t>>},
    {"mov.32", map<copy<uint32_t>>},
    {"mov.64", map<copy<uint64_t>>},
    {"mov.128", copy128},
    {"selp.16", select<uint16_t>},
    {"selp.32", select<uint32_t>},
    {"selp.64", select<uint64_t>},
    {"slct.16.s32", map<choose_s32<uint16_t>>},
    {"slct.32.s32", map<choose_s32<uint32_t>>},
    {"slct.64.s32", map<choose_s32<uint64_t>>},
    {"slct.16.f32", map<choose_f32<uint16_t>>},
    {"slct.32.f32", map<choose_f32<uint32_t>>},
    {"slct.64.f32", map<choose_f32<uint64_t>>},
    {"slct.ftz.16.f32", map<choose_ftz<uint16_t>>},
    {"slct.ftz.32.f32", map<choose_ftz<uint32_t>>},
    {"slct.ftz.64.f32", map<choose_ftz<uint64_t>>},
    {"pack.8x2", pack<uint16_t, uint16_t, 8, 2>},
    {"pack.8x4", pack<uint32_t, uint16_t, 8, 4>},
    {"pack.16x2", pack<uint32_t, uint16_t, 16, 2>},
    {"pack.16x4", pack<uint64_t, uint16_t, 16, 4>},
    {"pack.32x2", pack<uint64_t, uint32_t, 32, 2>},
    {"pack.32x4", pack128<uint32_t, 4>},
    {"pack.64x2", pack128<uint64_t, 2>},
    {"unpack.8x2", unpack<uint16_t, uint16_t, 8, 2>},
    {"unpack.8x4", unpack<uint16_t, uint32_t, 8, 4>},
    {"unpack.16x2", unpack<uint16_t, uint32_t, 16, 2>},
    {"unpack.16x4", unpack<uint16_t, uint64_t, 16, 4>},
    {"unpack.32x2", unpack<uint32_t, uint64_t, 32, 2>},
    {"unpack.32x4", unpack128<uint32_t, 4>},
    {"unpack.64x2", unpack128<uint64_t, 2>},
};

}  // namespace

std::span<const Row> move_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
