// Comparisons over many stamps or lanes at once whose answers are single bits. They are
// instructions on AVX-512 and plain loops on other levels. Only for the sources compiled once per
// x86-64 level.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "vgpu/hot.h"
#include "vgpu/stamps.h"

namespace kw::vgpu::KW_SIMD_LEVEL {

/// What a read finds in neighbouring shared units.
struct ReadScan {
  bool bad;    // a unit outside [start, start + span): undefined, or not ordered before
  bool again;  // a unit that was already read in this interval
  bool apart;  // a unit not yet known to be read by several warps
};

KW_LANE ReadScan scan_reads(const uint64_t* w, const uint64_t* r, uint32_t units, uint64_t start,
                            uint64_t span, uint64_t ordered) {
  namespace st = shared_stamp;
#ifdef __AVX512F__
  const __m512i vstart = _mm512_set1_epi64(static_cast<int64_t>(start));
  const __m512i vspan = _mm512_set1_epi64(static_cast<int64_t>(span));
  const __m512i vordered = _mm512_set1_epi64(static_cast<int64_t>(ordered));
  uint32_t bad = 0, again = 0, apart = 0;
  for (uint32_t i = 0; i < units; i += 8) {
    const auto k = static_cast<__mmask8>(units - i >= 8 ? 0xff : (1u << (units - i)) - 1);
    const __m512i vw = _mm512_maskz_loadu_epi64(k, w + i), vr = _mm512_maskz_loadu_epi64(k, r + i);
    const uint32_t fresh = _mm512_mask_cmplt_epu64_mask(k, vr, vordered);
    bad |= _mm512_mask_cmpge_epu64_mask(k, _mm512_sub_epi64(vw, vstart), vspan);
    again |= k & ~fresh;
    apart |= fresh | _mm512_mask_testn_epi64_mask(k, vr, _mm512_set1_epi64(st::kManyWarps)) |
             _mm512_mask_test_epi64_mask(k, vr, _mm512_set1_epi64(st::kStrong));
  }
  return {bad != 0, again != 0, apart != 0};
#else
  uint64_t bad = 0, again = 0, apart = 0;
  for (uint32_t i = 0; i < units; ++i) {
    const bool fresh = r[i] < ordered;
    bad |= static_cast<uint64_t>(w[i] - start >= span);
    again |= static_cast<uint64_t>(!fresh);
    apart |= static_cast<uint64_t>(fresh) | (~r[i] & st::kManyWarps) | (r[i] & st::kStrong);
  }
  return {bad != 0, again != 0, apart != 0};
#endif
}

/// Stamps that are ordered before an access: below `old`, or in [low, low + span).
struct OrderedStamps {
  uint64_t old, low, span;
};

KW_LANE bool is_ordered(uint64_t stamp, const OrderedStamps& o) {
  return (stamp < o.old) | (stamp - o.low < o.span);
}
/// The stamp that the lane covering unit `unit` writes there; each lane covers 2^per_lane units.
KW_LANE uint64_t stamp_of(uint64_t mine, uint32_t unit, int per_lane) {
  return mine + (static_cast<uint64_t>(unit >> per_lane) << 25);
}

#ifdef __AVX512F__
KW_LANE __mmask8 units_from(uint32_t units, uint32_t i) {
  return static_cast<__mmask8>(units - i >= 8 ? 0xff : (1u << (units - i)) - 1);
}
KW_LANE __mmask8 unordered(__mmask8 k, __m512i stamps, const OrderedStamps& o) {
  const __m512i old = _mm512_set1_epi64(static_cast<int64_t>(o.old));
  const __m512i low = _mm512_set1_epi64(static_cast<int64_t>(o.low));
  const __m512i span = _mm512_set1_epi64(static_cast<int64_t>(o.span));
  const __mmask8 recent = _mm512_mask_cmpge_epu64_mask(k, stamps, old);
  return _mm512_mask_cmpge_epu64_mask(recent, _mm512_sub_epi64(stamps, low), span);
}
KW_LANE __m512i stamps_of(uint64_t mine, uint32_t unit, int per_lane) {
  const __v8du units = __v8du{0, 1, 2, 3, 4, 5, 6, 7} + unit;
  return reinterpret_cast<__m512i>((units >> per_lane << 25) + mine);
}
#endif

/// Whether some stamp is not ordered before the access. With `needs_writer`, a zero stamp counts
/// too.
KW_LANE bool any_unordered(const uint64_t* s, uint32_t units, const OrderedStamps& o,
                           bool needs_writer) {
#ifdef __AVX512F__
  uint32_t bad = 0;
  for (uint32_t i = 0; i < units; i += 8) {
    const __mmask8 k = units_from(units, i);
    const __m512i stamps = _mm512_maskz_loadu_epi64(k, s + i);
    bad |= unordered(k, stamps, o);
    bad |= needs_writer ? _mm512_mask_testn_epi64_mask(k, stamps, stamps) : 0;
  }
  return bad != 0;
#else
  uint64_t bad = 0;
  for (uint32_t i = 0; i < units; ++i)
    bad |= static_cast<uint64_t>(!is_ordered(s[i], o)) |
           static_cast<uint64_t>(needs_writer & (s[i] == 0));
  return bad != 0;
#endif
}

/// Whether some reader's stamp is neither ordered before the write nor the writing lane's own.
KW_LANE bool any_other_reader(const uint64_t* r, uint32_t units, const OrderedStamps& o,
                              uint64_t mine, int per_lane) {
  constexpr uint64_t kSpread = global_stamp::kSpread;
#ifdef __AVX512F__
  uint32_t bad = 0;
  for (uint32_t i = 0; i < units; i += 8) {
    const __mmask8 k = units_from(units, i);
    const __m512i stamps = _mm512_maskz_loadu_epi64(k, r + i);
    const __m512i other = reinterpret_cast<__m512i>(
        reinterpret_cast<__v8du>(_mm512_xor_si512(stamps, stamps_of(mine, i, per_lane))) >> 25);
    const uint32_t apart = static_cast<uint32_t>(_mm512_test_epi64_mask(other, other)) |
                           _mm512_test_epi64_mask(stamps, _mm512_set1_epi64(kSpread));
    bad |= unordered(k, stamps, o) & apart;
  }
  return bad != 0;
#else
  uint64_t bad = 0;
  for (uint32_t i = 0; i < units; ++i) {
    const uint64_t other = (r[i] ^ stamp_of(mine, i, per_lane)) >> 25;
    const bool apart = (other != 0) | ((r[i] & kSpread) != 0);
    bad |= static_cast<uint64_t>(!is_ordered(r[i], o) & apart);
  }
  return bad != 0;
#endif
}

KW_LANE void fill_stamps(uint64_t* s, uint32_t units, uint64_t mine, int per_lane) {
#ifdef __AVX512F__
  for (uint32_t i = 0; i < units; i += 8)
    _mm512_mask_storeu_epi64(s + i, units_from(units, i), stamps_of(mine, i, per_lane));
#else
  for (uint32_t i = 0; i < units; ++i) s[i] = stamp_of(mine, i, per_lane);
#endif
}

/// Computes the shared offsets of 32-bit addresses. True when an active lane is out of range or
/// misaligned.
KW_LANE bool shared_offsets(const U32* address, uint32_t shift, uint32_t limit, uint32_t low_bits,
                            uint32_t mask, uint32_t* offsets) {
#ifdef __AVX512F__
  uint32_t wrong = 0;
  for (int half = 0; half < 2; ++half) {
    const __m512i at = _mm512_add_epi32(_mm512_load_si512(address + 16 * half),
                                        _mm512_set1_epi32(static_cast<int>(shift)));
    const auto k = static_cast<__mmask16>(mask >> (16 * half));
    wrong |= _mm512_mask_cmpgt_epu32_mask(k, at, _mm512_set1_epi32(static_cast<int>(limit)));
    wrong |= _mm512_mask_test_epi32_mask(k, at, _mm512_set1_epi32(static_cast<int>(low_bits)));
    _mm512_store_si512(offsets + 16 * half, at);
  }
  return wrong != 0;
#else
  uint32_t wrong = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t at = address[i] + shift;
    const uint32_t bad = static_cast<uint32_t>(at > limit) | (at & low_bits);
    wrong |= (mask & kLaneBit[i]) != 0 ? bad : 0;
    offsets[i] = at;
  }
  return wrong != 0;
#endif
}

/// `next`: lanes that are `total` bytes after the lane before them. `same`: lanes at the same
/// address as the lane before. offsets[-1] must be readable.
KW_LANE void lane_steps(const uint32_t* offsets, uint32_t total, uint32_t& next, uint32_t& same) {
  next = same = 0;
#ifdef __AVX512F__
  for (int half = 0; half < 2; ++half) {
    const __m512i step = _mm512_sub_epi32(_mm512_load_si512(offsets + 16 * half),
                                          _mm512_loadu_si512(offsets + 16 * half - 1));
    const uint32_t ahead =
        _mm512_cmpeq_epi32_mask(step, _mm512_set1_epi32(static_cast<int>(total)));
    const uint32_t still = _mm512_testn_epi32_mask(step, step);
    next |= ahead << (16 * half);
    same |= still << (16 * half);
  }
#else
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t step = offsets[i] - offsets[i - 1];
    next |= step == total ? kLaneBit[i] : 0;
    same |= step == 0 ? kLaneBit[i] : 0;
  }
#endif
}

/// Whether lane i's address is first + i * total for all active lanes.
KW_LANE bool is_row(const U64* address, uint64_t first, uint32_t total, uint32_t mask) {
#ifdef __AVX512F__
  const __m512i step = _mm512_set1_epi64(static_cast<int64_t>(total) * 8);
  const int64_t t = total;
  __m512i expected =
      _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(first)),
                       _mm512_setr_epi64(0, t, 2 * t, 3 * t, 4 * t, 5 * t, 6 * t, 7 * t));
  uint32_t uneven = 0;
  for (int part = 0; part < 4; ++part) {
    const auto k = static_cast<__mmask8>(mask >> (8 * part));
    uneven |= _mm512_mask_cmpneq_epi64_mask(k, _mm512_load_si512(address + 8 * part), expected);
    expected = _mm512_add_epi64(expected, step);
  }
  return uneven == 0;
#else
  uint64_t uneven = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t difference = address[i] - (first + static_cast<uint64_t>(i) * total);
    uneven |= (mask & kLaneBit64[i]) != 0 ? difference : 0;
  }
  return uneven == 0;
#endif
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
