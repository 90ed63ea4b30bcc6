#include "isa/adapters.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

#include "isa/convert_aux.h"
#include "isa/table.h"

namespace kw::isa {
namespace {

constexpr uint32_t kRoundingBits = 0x6000;  // MXCSR.RC

// The lane loops are separate functions called through a pointer, so no operation moves across the
// mode change.
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

uint32_t width_code(uint32_t bytes) {
  return static_cast<uint32_t>(std::countr_zero(bytes)) - 1;
}  // 2, 4, 8, 16
uint32_t code_width(uint32_t code) { return 2u << (code & 3); }

uint64_t read_low(const std::byte* lane, uint32_t width) {
  uint64_t value = 0;
  std::memcpy(&value, lane, width < 8 ? width : 8);
  return value;
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
  constexpr uint32_t kSlot = 512;
  alignas(64) std::byte local[2 * kSlot];
  for (uint32_t i = 0; i < 32; ++i) {
    const uint64_t value = read_low(file + args.src[0] + i * src, src);
    std::memcpy(local + i * natural_src, &value, natural_src < 8 ? natural_src : 8);
  }
  AluArgs inner;
  inner.src[0] = 0;
  inner.dst[0] = kSlot;
  inner.aux = (args.aux >> kAuxAt) & ((1u << kCvtAuxBits) - 1);
  row_at(args.aux & ((1u << kRowIndexBits) - 1)).fn(local, inner, ~0u);
  const uint32_t spare = 64 - 8 * (natural_dst < 8 ? natural_dst : 8);
  for (uint32_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const uint64_t top = read_low(local + kSlot + i * natural_dst, natural_dst) << spare;
    const uint64_t value = (args.aux >> kSignAt & 1) != 0
                               ? static_cast<uint64_t>(static_cast<int64_t>(top) >> spare)
                               : top >> spare;
    std::memcpy(file + args.dst[0] + i * dst, &value, dst < 8 ? dst : 8);
  }
}

}  // namespace kw::isa
