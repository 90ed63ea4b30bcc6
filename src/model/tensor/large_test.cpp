#include "tensor/large.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <numeric>

namespace kw::tensor {
namespace {

class LargeTest : public testing::TestWithParam<size_t> {};

TEST_P(LargeTest, NewElementsAreZero) {
  Large<double> values(GetParam());
  EXPECT_EQ(values.size(), GetParam());
  for (const double value : values) ASSERT_EQ(value, 0);
  std::iota(values.begin(), values.end(), 1.0);
  values.resize(GetParam() / 2);
  values.resize(GetParam() * 2);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], i < GetParam() / 2 ? static_cast<double>(i + 1) : 0) << i;
}

TEST_P(LargeTest, CopiesAndMoves) {
  Large<float> values(GetParam(), 2.5f);
  Large<float> copy = values;
  EXPECT_TRUE(copy == values);
  const float* where = values.data();
  Large<float> moved = std::move(values);
  EXPECT_EQ(moved.data(), where);
  EXPECT_TRUE(moved == copy);
  copy = {1, 2};
  EXPECT_FALSE(moved == copy);
  copy.clear();
  EXPECT_TRUE(copy.empty());
}

TEST_P(LargeTest, BytesBecomeNumbersInPlace) {
  Bytes bytes(GetParam() * sizeof(int64_t));
  for (size_t i = 0; i < bytes.size(); i += sizeof(int64_t)) bytes[i] = std::byte{7};
  const void* where = bytes.data();
  const auto numbers = Large<int64_t>::adopt(std::move(bytes));
  EXPECT_EQ(numbers.data(), where);
  ASSERT_EQ(numbers.size(), GetParam());
  for (const int64_t number : numbers) ASSERT_EQ(number, 7);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LargeTest,
                         testing::Values(size_t{1}, size_t{1000}, (size_t{1} << 19) - 1,
                                         size_t{1} << 19, (size_t{3} << 18) + 5));

TEST(Large, AdoptsWhatDoesNotFitWholeByCopying) {
  Bytes bytes(11);
  bytes.resize(8);
  bytes[0] = std::byte{1};
  EXPECT_EQ(Large<int64_t>::adopt(std::move(bytes)), (Large<int64_t>{1}));
}

TEST(Large, EqualsVectorsOfTheSameNumbers) {
  const std::vector<double> numbers = {1, 2, 3};
  EXPECT_EQ(Large<double>(numbers), numbers);
}

TEST(Large, SaysWhenThereIsNoMemory) {
  Large<double> values;
  EXPECT_THROW(values.resize(std::numeric_limits<size_t>::max() / 2), std::bad_alloc);
  EXPECT_THROW(values.resize(std::numeric_limits<size_t>::max() / 16), std::bad_alloc);
  EXPECT_TRUE(values.empty());
}

}  // namespace
}  // namespace kw::tensor
