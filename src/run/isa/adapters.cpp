#include "isa/adapters.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

#include "isa/convert_aux.h"
#include "isa/table.h"

namespace kw::isa {
namespace {

constexpr uint32_t kRoundingBits = 0x6000;  // MXCSR.RC

// The lane loops are separate functions called through a pointer, so the compiler cannot move an
// operation across the mode change.
template <uint32_t kMode>
void run_rounded(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t saved = _mm_getcsr();
  _mm_setcsr((saved & ~kRoundingBits) | kMode);
  asm volatile("" ::: "memory");
  row_at(args.aux).fn(file, args, mask);
  asm volatile("" ::: "memory");
  _mm_setcsr(saved);
}

constexpr uint32_t kAuxAt = kRowIndexBits, kSrcAt = kAuxAt + kCvtAuxBits, kDstAt = kSrcAt + 2,
                   kNaturalSrcAt = kDstAt + 2, kNaturalDstAt = kNaturalSrcAt + 2,
                   kSignAt = kNaturalDstAt + 2;
static_assert(kSignAt < 32);

// The two-bit code of a width of 2, 4, 8 or 16 bytes.
uint32_t width_code(uint32_t bytes) { return static_cast<uint32_t>(std::countr_zero(bytes)) - 1; }
uint32_t code_width(uint32_t code) { return 2u << (code & 3); }

template <class T>
void load_lanes(const std::byte* slot, uint64_t* out) {
  T raw[32];
  std::memcpy(raw, slot, sizeof(raw));
  for (int i = 0; i < 32; ++i) out[i] = raw[i];
}
/// Reads the low `width` bytes of each lane.
void load_lanes(const std::byte* slot, uint32_t width, uint64_t* out) {
  if (width == 2) return load_lanes<uint16_t>(slot, out);
  if (width == 4) return load_lanes<uint32_t>(slot, out);
  load_lanes<uint64_t>(slot, out);
}
template <class T>
void store_lanes(std::byte* slot, const uint64_t* in, uint32_t mask) {
  T raw[32];
  std::memcpy(raw, slot, sizeof(raw));
  for (int i = 0; i < 32; ++i) raw[i] = (mask >> i & 1) != 0 ? static_cast<T>(in[i]) : raw[i];
  std::memcpy(slot, raw, sizeof(raw));
}
void store_lanes(std::byte* slot, uint32_t width, const uint64_t* in, uint32_t mask) {
  if (width == 2) return store_lanes<uint16_t>(slot, in, mask);
  if (width == 4) return store_lanes<uint32_t>(slot, in, mask);
  store_lanes<uint64_t>(slot, in, mask);
}

}  // namespace

AluFn rounded(numeric::Round round) {
  switch (round) {
    case numeric::Round::Down:
      return run_rounded<0x2000>;
    case numeric::Round::Up:
      return run_rounded<0x4000>;
    default:
      return run_rounded<0x6000>;
  }
}

uint32_t resize_aux(uint32_t row, uint32_t inner_aux, const Widths& widths) {
  return row | inner_aux << kAuxAt | width_code(widths.src) << kSrcAt |
         width_code(widths.dst) << kDstAt | width_code(widths.natural_src) << kNaturalSrcAt |
         width_code(widths.natural_dst) << kNaturalDstAt |
         static_cast<uint32_t>(widths.sign_extend) << kSignAt;
}

void resize(std::byte* file, const AluArgs& args, uint32_t mask) {
  const uint32_t src = code_width(args.aux >> kSrcAt), dst = code_width(args.aux >> kDstAt);
  const uint32_t natural_src = code_width(args.aux >> kNaturalSrcAt);
  const uint32_t natural_dst = code_width(args.aux >> kNaturalDstAt);
  constexpr uint32_t kSlot = 256;
  alignas(64) std::byte local[2 * kSlot] = {};
  uint64_t values[32];
  load_lanes(file + args.src[0], src, values);
  store_lanes(local, natural_src, values, ~0u);
  AluArgs inner;
  inner.src[0] = 0;
  inner.dst[0] = kSlot;
  inner.aux = (args.aux >> kAuxAt) & ((1u << kCvtAuxBits) - 1);
  row_at(args.aux & ((1u << kRowIndexBits) - 1)).fn(local, inner, ~0u);
  load_lanes(local + kSlot, natural_dst, values);
  const uint32_t spare = 64 - 8 * natural_dst;
  if ((args.aux >> kSignAt & 1) != 0)
    for (uint64_t& v : values) v = static_cast<uint64_t>(static_cast<int64_t>(v << spare) >> spare);
  store_lanes(file + args.dst[0], dst, values, mask);
}

}  // namespace kw::isa
