#include "cuda/poison.h"

#include <array>
#include <bit>
#include <cstring>

namespace kw::cuda {
namespace {

using tensor::DType;

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// 0x7ff1 … 0x7ffe with either sign: a NaN as fp16, as bf16, and as the top of fp32 and fp64.
/// 0x7fff is left out: it is the NaN the hardware makes.
uint32_t nan_half(uint64_t bits) {
  return static_cast<uint32_t>((0x7ff1 + bits % 14) | ((bits >> 8 & 1) << 15));
}

bool is_eight_bit_float(DType dtype) {
  return dtype == DType::Fp8e4m3 || dtype == DType::Fp8e5m2 || dtype == DType::E8m0;
}

/// The pattern three times, so that eight bytes can be compared from any phase.
std::array<std::byte, 12> repeated(uint32_t pattern) {
  return std::bit_cast<std::array<std::byte, 12>>(
      std::array<uint32_t, 3>{pattern, pattern, pattern});
}

/// How many neighbouring elements must hold the pattern before it means "not written".
int64_t convincing_run(DType dtype) {
  const int size = tensor::dtype_size(dtype);
  if (size >= 4 || (size == 2 && tensor::is_float(dtype))) return 1;
  return size == 2 ? 4 : 16;
}

template <size_t kSize>
Survivors survivors_of(std::span<const std::byte> dense, uint32_t pattern, unsigned phase,
                       int64_t convincing) {
  const auto expected = repeated(pattern);
  const auto elements = static_cast<int64_t>(dense.size() / kSize);
  Survivors found;
  int64_t run = 0;
  for (int64_t i = 0; i <= elements; ++i) {
    const size_t at = static_cast<size_t>(i) * kSize;
    if (i < elements && std::memcmp(&dense[at], &expected[(at + phase) % 4], kSize) == 0) {
      ++run;
      continue;
    }
    if (run >= convincing || (run > 0 && run == elements)) {
      if (found.first < 0) found.first = i - run;
      found.count += run;
    }
    run = 0;
  }
  return found;
}

}  // namespace

uint32_t poison_pattern(DType dtype, uint64_t seed, bool uniform) {
  const uint64_t random = mix(seed + 0x9e3779b97f4a7c15u);
  if (uniform && tensor::dtype_size(dtype) == 1) {
    const uint32_t byte =
        is_eight_bit_float(dtype) ? 0x7f | (random & 1) << 7 : 0x11 + random % 0xdd;
    return byte * 0x01010101u;
  }
  if (is_eight_bit_float(dtype)) {
    // 0x7f and 0xff are the NaNs all of them share (e8m0: 0xff alone); both signs occur, so four
    // equal NaNs differ.
    const uint64_t signs = 1 + random % 14;
    uint32_t pattern = 0x7f7f7f7f;
    for (int i = 0; i < 4; ++i) pattern |= static_cast<uint32_t>((signs >> i & 1) << (8 * i + 7));
    return pattern;
  }
  const uint32_t low = nan_half(random >> 20);
  return (uniform ? low : nan_half(random)) << 16 | low;
}

Survivors find_survivors(DType dtype, std::span<const std::byte> dense, uint32_t pattern,
                         unsigned phase) {
  switch (tensor::dtype_size(dtype)) {
    case 1:
      return survivors_of<1>(dense, pattern, phase, convincing_run(dtype));
    case 2:
      return survivors_of<2>(dense, pattern, phase, convincing_run(dtype));
    case 4:
      return survivors_of<4>(dense, pattern, phase, convincing_run(dtype));
    default:
      return survivors_of<8>(dense, pattern, phase, convincing_run(dtype));
  }
}

size_t first_unlike(std::span<const std::byte> bytes, uint32_t pattern, unsigned phase) {
  const auto expected = repeated(pattern);
  size_t i = 0;
  while (i + 8 <= bytes.size() && std::memcmp(&bytes[i], &expected[phase % 4], 8) == 0) i += 8;
  while (i < bytes.size() && bytes[i] == expected[(i + phase) % 4]) ++i;
  return i;
}

}  // namespace kw::cuda
