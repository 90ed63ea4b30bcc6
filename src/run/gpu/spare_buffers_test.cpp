#include "gpu/spare_buffers.h"

#include <gtest/gtest.h>

namespace kw::gpu {
namespace {

std::vector<std::byte> numbered(size_t bytes, int first) {
  std::vector<std::byte> made(bytes);
  for (size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(first + static_cast<int>(i % 251));
  return made;
}

class SpareBuffersTest : public testing::TestWithParam<size_t> {};

TEST_P(SpareBuffersTest, CopiesWhetherFreshOrUsedBefore) {
  SpareBuffers spare;
  const std::vector<std::byte> first = numbered(GetParam(), 1);
  const std::vector<std::byte> second = numbered(GetParam() * 3 / 4, 7);
  tensor::Bytes copied = spare.copy_of(first);
  EXPECT_TRUE(copied == first);
  std::vector<tensor::HostTensor> back(1);
  back[0].data = std::move(copied);
  spare.give(std::move(back));
  EXPECT_TRUE(spare.copy_of(second) == second);
  EXPECT_TRUE(spare.copy_of(second) == second);
}

INSTANTIATE_TEST_SUITE_P(All, SpareBuffersTest,
                         testing::Values(size_t{0}, size_t{1}, size_t{1} << 20,
                                         (size_t{1} << 20) + 3, (size_t{40} << 20) + 5));

TEST(SpareBuffers, UsesTheSameMemoryAgain) {
  SpareBuffers spare;
  std::vector<tensor::HostTensor> back(1);
  back[0].data = spare.copy_of(numbered(size_t{4} << 20, 0));
  const std::byte* where = back[0].data.data();
  spare.give(std::move(back));
  EXPECT_EQ(spare.copy_of(numbered(size_t{3} << 20, 0)).data(), where);
}

TEST(SpareBuffers, AGiantIsNotSpentOnADwarf) {
  SpareBuffers spare;
  std::vector<tensor::HostTensor> back(1);
  back[0].data = spare.copy_of(numbered(size_t{16} << 20, 0));
  const std::byte* where = back[0].data.data();
  spare.give(std::move(back));
  EXPECT_NE(spare.copy_of(numbered(size_t{1} << 20, 0)).data(), where);
}

}  // namespace
}  // namespace kw::gpu
