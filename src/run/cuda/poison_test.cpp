#include "cuda/poison.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace kw::cuda {
namespace {

using tensor::DType;

std::vector<std::byte> repeat(uint32_t pattern, size_t bytes, unsigned phase = 0) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>(pattern >> (8 * ((i + phase) % 4)));
  return out;
}

bool is_half_nan(uint16_t h) { return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0; }
bool is_bf16_nan(uint16_t h) { return (h & 0x7f80) == 0x7f80 && (h & 0x7f) != 0; }

TEST(Poison, IsANanOfEveryFloatTypeButNoneTheHardwareMakes) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    for (bool uniform : {false, true}) {
      const uint32_t pattern = poison_pattern(DType::Fp32, seed, uniform);
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(pattern)));
      EXPECT_TRUE(std::isnan(std::bit_cast<double>(uint64_t{pattern} << 32 | pattern)));
      EXPECT_NE(pattern, 0x7fffffffu);
      for (uint32_t half : {pattern & 0xffff, pattern >> 16}) {
        EXPECT_TRUE(is_half_nan(static_cast<uint16_t>(half))) << std::hex << pattern;
        EXPECT_TRUE(is_bf16_nan(static_cast<uint16_t>(half))) << std::hex << pattern;
        EXPECT_NE(half & 0x7fff, 0x7fffu);
      }
      EXPECT_TRUE(!uniform || (pattern & 0xffff) == pattern >> 16);
    }
  }
}

TEST(Poison, ChangesFromRunToRun) {
  for (DType dtype : {DType::Fp32, DType::Int32, DType::Fp8e4m3}) {
    std::set<uint32_t> seen;
    for (uint64_t seed = 0; seed < 100; ++seed) seen.insert(poison_pattern(dtype, seed));
    EXPECT_GE(seen.size(), 10u);
  }
}

TEST(Poison, EightBitFloatsGetNansOfBothSigns) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const uint32_t pattern = poison_pattern(DType::Fp8e4m3, seed);
    EXPECT_EQ(pattern & 0x7f7f7f7f, 0x7f7f7f7fu);
    EXPECT_NE(pattern, 0x7f7f7f7fu);
    EXPECT_NE(pattern, 0xffffffffu);
    const uint32_t uniform = poison_pattern(DType::Fp8e4m3, seed, true);
    EXPECT_EQ(uniform, (uniform & 0xff) * 0x01010101u);
  }
}

struct ValueCase {
  const char* name;
  DType dtype;
  size_t elements;
  size_t first, last;  // elements [first, last) keep the poison, the others are written
  int64_t want_first, want_count;
};

class Surviving : public ::testing::TestWithParam<ValueCase> {};

TEST_P(Surviving, IsFoundWhenItIsNoCoincidence) {
  const ValueCase& c = GetParam();
  const auto size = static_cast<size_t>(tensor::dtype_size(c.dtype));
  for (unsigned phase = 0; phase < 4; ++phase) {
    const uint32_t pattern = poison_pattern(c.dtype, 7 + phase);
    std::vector<std::byte> data = repeat(pattern, c.elements * size, phase);
    for (size_t i = 0; i < c.elements; ++i) {
      if (i < c.first || i >= c.last) std::memset(&data[i * size], 0x11, size);
    }
    const Unwritten found = find_unwritten(c.dtype, data, pattern, phase);
    EXPECT_EQ(found.first, c.want_first);
    EXPECT_EQ(found.count, c.want_count);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Surviving,
    ::testing::Values(
        ValueCase{"AllWritten", DType::Fp32, 100, 0, 0, -1, 0},
        ValueCase{"OneFloat", DType::Fp32, 100, 99, 100, 99, 1},
        ValueCase{"OneDouble", DType::Fp64, 100, 0, 1, 0, 1},
        ValueCase{"OneHalf", DType::Fp16, 100, 50, 51, 50, 1},
        ValueCase{"OneInt32", DType::Int32, 100, 3, 4, 3, 1},
        ValueCase{"ThreeInt16", DType::Int16, 100, 10, 13, -1, 0},
        ValueCase{"FourInt16", DType::Int16, 100, 10, 14, 10, 4},
        ValueCase{"FifteenBytes", DType::Uint8, 100, 10, 25, -1, 0},
        ValueCase{"SixteenBytes", DType::Uint8, 100, 10, 26, 10, 16},
        ValueCase{"AllOfThreeBytes", DType::Bool, 3, 0, 3, 0, 3},
        ValueCase{"LastOfManyHalves", DType::Fp16, 9000000, 8999999, 9000000, 8999999, 1},
        ValueCase{"AmongManyFloats", DType::Fp32, 5000001, 4000000, 4000100, 4000000, 100},
        ValueCase{"ManyAllWritten", DType::Uint8, 17000000, 0, 0, -1, 0},
        ValueCase{"None", DType::Fp32, 0, 0, 0, -1, 0}),
    [](const auto& test) { return test.param.name; });

TEST(Poison, FindsTheFirstByteThatDiffers) {
  const uint32_t pattern = poison_pattern(DType::Fp32, 1);
  for (unsigned phase = 0; phase < 4; ++phase) {
    for (size_t size : {0u, 1u, 7u, 8u, 9u, 100u}) {
      std::vector<std::byte> data = repeat(pattern, size, phase);
      EXPECT_EQ(first_unlike(data, pattern, phase), size);
      for (size_t at = 0; at < size; ++at) {
        data[at] ^= std::byte{1};
        EXPECT_EQ(first_unlike(data, pattern, phase), at);
        data[at] ^= std::byte{1};
      }
    }
  }
}

}  // namespace
}  // namespace kw::cuda
