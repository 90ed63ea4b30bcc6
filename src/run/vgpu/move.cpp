// Moves between registers and memory; compiled once per x86-64 level. Register slots hold 32 lanes
// of 2, 4, 8 or 16 bytes; memory elements may be narrower. The decoder picks one function per
// combination, so the loop has no branch on widths. Rows of neighbouring lanes become plain vector
// loops; other addresses use a gather or one lane at a time. The cost is code size: one instance
// per width, register width and vector length.
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "vgpu/levels.h"

namespace kw::vgpu::KW_SIMD_LEVEL {
namespace {

struct __attribute__((may_alias)) Wide {
  uint64_t part[2];
};

template <class T>
struct Aliased {
  typedef T type __attribute__((may_alias));
};
template <>
struct Aliased<Wide> {
  using type = Wide;
};

template <class T>
inline __attribute__((always_inline)) typename Aliased<T>::type* slot(std::byte* file,
                                                                      uint32_t offset) {
  return reinterpret_cast<typename Aliased<T>::type*>(file + offset);
}

template <class T>
inline __attribute__((always_inline)) T read(const std::byte* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

inline __attribute__((always_inline)) bool is_prefix(uint32_t mask) {
  return (mask & (mask + 1)) == 0;
}

template <class M, class R, int kCount>
void load_row(std::byte* file, const MemOp& op, std::byte* lane0, uint32_t mask) {
  for (int k = 0; k < kCount; ++k) {
    auto* d = slot<R>(file, op.data[k]);
    const std::byte* s = lane0 + k * sizeof(M);
    if (mask == ~0u) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) d[i] = static_cast<R>(read<M>(s + i * kCount * sizeof(M)));
    } else if (is_prefix(mask)) {
      const int n = __builtin_popcount(mask);
#pragma GCC ivdep
      for (int i = 0; i < n; ++i) d[i] = static_cast<R>(read<M>(s + i * kCount * sizeof(M)));
    } else {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        d[i] = static_cast<R>(read<M>(s + static_cast<int64_t>(i) * kCount * sizeof(M)));
      }
    }
  }
}

template <class M, class R, int kCount>
void store_row(std::byte* file, const MemOp& op, std::byte* lane0, uint32_t mask) {
  for (int k = 0; k < kCount; ++k) {
    const auto* s = slot<R>(file, op.data[k]);
    std::byte* d = lane0 + k * sizeof(M);
    if (mask == ~0u || is_prefix(mask)) {
      const int n = mask == ~0u ? kLanes : __builtin_popcount(mask);
#pragma GCC ivdep
      for (int i = 0; i < n; ++i) {
        const M value = static_cast<M>(s[i]);
        __builtin_memcpy(d + i * kCount * sizeof(M), &value, sizeof value);
      }
    } else {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        const M value = static_cast<M>(s[i]);
        __builtin_memcpy(d + static_cast<int64_t>(i) * kCount * sizeof(M), &value, sizeof value);
      }
    }
  }
}

template <class M, class R>
inline __attribute__((always_inline)) void gather(typename Aliased<R>::type* d, const std::byte* s,
                                                  const uint32_t* offsets) {
#ifdef __AVX512F__
  if constexpr (sizeof(M) == 4 && sizeof(R) == 4) {
    const __m512i zero = _mm512_setzero_si512();  // g++ 12 warns about the unmasked form
    const __m512i low =
        _mm512_mask_i32gather_epi32(zero, 0xffff, _mm512_loadu_si512(offsets), s, 1);
    const __m512i high =
        _mm512_mask_i32gather_epi32(zero, 0xffff, _mm512_loadu_si512(offsets + 16), s, 1);
    _mm512_storeu_si512(d, low);
    _mm512_storeu_si512(d + 16, high);
    return;
  }
#endif
  for (int i = 0; i < kLanes; ++i) d[i] = static_cast<R>(read<M>(s + offsets[i]));
}

template <class M, class R>
void load_lanes(std::byte* file, const MemOp& op, std::byte* base, const uint32_t* offsets,
                uint32_t mask) {
  for (int k = 0; k < op.count; ++k) {
    auto* d = slot<R>(file, op.data[k]);
    const std::byte* s = base + k * sizeof(M);
    if (mask == ~0u) {
      gather<M, R>(d, s, offsets);
    } else {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        d[i] = static_cast<R>(read<M>(s + offsets[i]));
      }
    }
  }
}

template <class M, class R>
void store_lanes(std::byte* file, const MemOp& op, std::byte* base, const uint32_t* offsets,
                 uint32_t mask) {
  // Lane by lane, so that the highest lane wins when two lanes store to one place.
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    for (int k = 0; k < op.count; ++k) {
      const M value = static_cast<M>(slot<R>(file, op.data[k])[i]);
      __builtin_memcpy(base + offsets[i] + k * sizeof(M), &value, sizeof value);
    }
  }
}

template <class M, class R>
void choose(MemOp& op) {
  if (op.is_store) {
    op.row = op.count == 1   ? &store_row<M, R, 1>
             : op.count == 2 ? &store_row<M, R, 2>
             : op.count == 4 ? &store_row<M, R, 4>
                             : &store_row<M, R, 8>;
    op.lanes = &store_lanes<M, R>;
  } else {
    op.row = op.count == 1   ? &load_row<M, R, 1>
             : op.count == 2 ? &load_row<M, R, 2>
             : op.count == 4 ? &load_row<M, R, 4>
                             : &load_row<M, R, 8>;
    op.lanes = &load_lanes<M, R>;
  }
}

template <class M, class R>
bool choose_if(MemOp& op, bool sign) {
  if (op.width != sizeof(M) || op.reg_width != sizeof(R)) return false;
  if (sizeof(M) != sizeof(R) && !op.is_store && op.sign != sign) return false;
  choose<M, R>(op);
  return true;
}

}  // namespace

bool choose_moves(MemOp& op) {
  return choose_if<uint32_t, uint32_t>(op, false) || choose_if<uint64_t, uint64_t>(op, false) ||
         choose_if<uint16_t, uint16_t>(op, false) || choose_if<Wide, Wide>(op, false) ||
         choose_if<uint8_t, uint16_t>(op, false) || choose_if<uint8_t, uint32_t>(op, false) ||
         choose_if<uint8_t, uint64_t>(op, false) || choose_if<uint16_t, uint32_t>(op, false) ||
         choose_if<uint16_t, uint64_t>(op, false) || choose_if<uint32_t, uint64_t>(op, false) ||
         choose_if<int8_t, int16_t>(op, true) || choose_if<int8_t, int32_t>(op, true) ||
         choose_if<int8_t, int64_t>(op, true) || choose_if<int16_t, int32_t>(op, true) ||
         choose_if<int16_t, int64_t>(op, true) || choose_if<int32_t, int64_t>(op, true);
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
