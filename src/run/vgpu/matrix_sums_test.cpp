// The sums of matrix products are the same at every x86-64 level.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "numeric/cpu_level.h"
#include "vgpu/levels.h"
#include "vgpu/matrix_values.h"

namespace kw::vgpu {
namespace {

using numeric::CpuLevel;

using Sums = bool (*)(const double*, const double*, double*, const MatrixShape&);
using Floats = bool (*)(ptx::Type, const std::byte*, int, double*);
constexpr Sums kSums[] = {&v2::add_products, &v3::add_products, &v4::add_products};
constexpr Floats kFloats[] = {&v2::floats_to_doubles, &v3::floats_to_doubles,
                              &v4::floats_to_doubles};

std::vector<double> numbers(std::mt19937_64& random, size_t count) {
  std::vector<double> made;
  for (size_t i = 0; i < count; ++i)
    made.push_back(std::ldexp(static_cast<double>(random() % 2049) - 1024,
                              static_cast<int>(random() % 40) - 20));
  return made;
}

TEST(MatrixSums, AreTheSameAtEveryLevel) {
  std::mt19937_64 random(7);
  for (const int columns : {8, 16, 32}) {
    const MatrixShape shape{16, columns, 16};
    const std::vector<double> a = numbers(random, 16 * 16), start = numbers(random, 16 * 32);
    const std::vector<double> b = numbers(random, 16 * static_cast<size_t>(columns));
    for (const CpuLevel level : numeric::supported_levels()) {
      std::vector<double> sums = start;
      ASSERT_TRUE(kSums[static_cast<int>(level)](a.data(), b.data(), sums.data(), shape));
      for (int i = 0; i < shape.rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          const auto at = static_cast<size_t>(i * columns + j);
          double sum = start[at];
          for (int x = 0; x < shape.depth; ++x) {
            const double product = a[static_cast<size_t>(i * shape.depth + x)] *
                                   b[static_cast<size_t>(x * columns + j)];
            sum += product;
          }
          ASSERT_EQ(sums[at], sum) << i << " " << j << " of " << columns;
        }
      }
    }
  }
}

TEST(MatrixSums, DeclineOtherWidths) {
  double sum = 0;
  EXPECT_FALSE(add_products(&sum, &sum, &sum, {1, 1, 1}));
}

TEST(MatrixSums, EveryHalfIsTheSameNumberAtEveryLevel) {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  const auto* const bytes = reinterpret_cast<const std::byte*>(bits.data());
  std::vector<double> values(bits.size());
  for (const ptx::Type type : {ptx::Type::F16, ptx::Type::Bf16}) {
    for (const CpuLevel level : numeric::supported_levels()) {
      ASSERT_TRUE(kFloats[static_cast<int>(level)](type, bytes, 1 << 16, values.data()));
      for (size_t i = 0; i < bits.size(); ++i) {
        const double one = element_value(type, bytes + 2 * i);
        ASSERT_TRUE(values[i] == one || (std::isnan(values[i]) && std::isnan(one))) << i;
      }
    }
  }
}

}  // namespace
}  // namespace kw::vgpu
