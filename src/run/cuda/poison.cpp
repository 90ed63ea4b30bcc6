// An output that a kernel did not write must be recognised, and an earlier run's result may still
// be in the memory. So memory is filled with a pattern that is NaN in every float type and differs
// in every run. Zeros would be simpler, but they are often the right result. For narrow integers
// any value can be right, so there only runs of 4 or 16 elements count.
// Reading all outputs takes time: 64 bytes are tested at once, on up to 16 threads. The cost: a
// kernel that copies poison from uninitialised memory looks as if it had not written.
#include "cuda/poison.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>
#include <vector>

#include "os/parallel.h"

namespace kw::cuda {
namespace {

using tensor::DType;

// For fewer bytes, starting a thread takes longer than the search.
constexpr size_t kBytesPerThread = size_t{8} << 20;
constexpr size_t kMostThreads = 16;

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// 0x7ff1 … 0x7ffe with either sign: a NaN as fp16, as bf16, and as the top of fp32 and fp64.
/// 0x7fff is excluded: the hardware itself makes this NaN.
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

/// The number of neighbouring elements that must hold the pattern to count as not written.
int64_t convincing_run(DType dtype) {
  const int size = tensor::dtype_size(dtype);
  if (size >= 4 || (size == 2 && tensor::is_float(dtype))) return 1;
  return size == 2 ? 4 : 16;
}

constexpr size_t kBlock = 64;  // bytes tested at once

/// Whether an element of the block may hold the pattern; `expected` is eight bytes of it.
template <size_t kSize>
bool block_is_like(const std::byte* block, uint64_t expected) {
  constexpr unsigned kBits = 8 * kSize;
  constexpr uint64_t kOnes = ~uint64_t{0} / (~uint64_t{0} >> (64 - kBits));
  constexpr uint64_t kHighest = kOnes << (kBits - 1);
  uint64_t found = 0;
  for (size_t i = 0; i < kBlock; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, block + i, 8);
    word ^= expected;
    found |= (word - kOnes) & ~word & kHighest;  // set where an element became zero
  }
  return found != 0;
}

/// The same for many blocks, on several threads when there are enough.
template <size_t kSize>
bool any_is_like(std::span<const std::byte> blocks, uint64_t expected) {
  const size_t most =
      std::min<size_t>(kMostThreads, std::max(1u, std::thread::hardware_concurrency()));
  const size_t parts = std::clamp<size_t>(blocks.size() / kBytesPerThread, 1, most);
  const size_t count = blocks.size() / kBlock;
  std::atomic<bool> found = false;
  const auto look = [&](size_t part) {
    for (size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) {
      if (!block_is_like<kSize>(&blocks[i * kBlock], expected)) continue;
      found = true;
      return;
    }
  };
  os::parallel_for(static_cast<int>(parts), static_cast<int64_t>(parts),
                   [&](int, int64_t part) { look(static_cast<size_t>(part)); });
  return found;
}

template <size_t kSize>
Unwritten survivors_of(std::span<const std::byte> dense, uint32_t pattern, unsigned phase,
                       int64_t convincing) {
  const auto expected = repeated(pattern);
  const auto elements = static_cast<int64_t>(dense.size() / kSize);
  uint64_t eight = 0;
  std::memcpy(&eight, &expected[phase % 4], 8);
  // Almost always no poison is left, and this test is fast.
  const size_t whole = dense.size() / kBlock * kBlock;
  const bool none = whole > 0 && !any_is_like<kSize>(dense.first(whole), eight);
  Unwritten found;
  int64_t run = 0;
  for (int64_t i = none ? static_cast<int64_t>(whole / kSize) : 0; i <= elements; ++i) {
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
    // 0x7f and 0xff are NaN in all of these types (in e8m0 only 0xff). Both signs occur, so the
    // four bytes are not all equal.
    const uint64_t signs = 1 + random % 14;
    uint32_t pattern = 0x7f7f7f7f;
    for (int i = 0; i < 4; ++i) pattern |= static_cast<uint32_t>((signs >> i & 1) << (8 * i + 7));
    return pattern;
  }
  const uint32_t low = nan_half(random >> 20);
  return (uniform ? low : nan_half(random)) << 16 | low;
}

Unwritten find_unwritten(DType dtype, std::span<const std::byte> dense, uint32_t pattern,
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
