#include "ports/audit_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

namespace kw::ports {
namespace {

std::vector<std::byte> bytes_of(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 131 >> 3);
  return bytes;
}

/// The definition, computed word by word.
uint64_t plain(const std::vector<std::byte>& bytes, uint64_t seed) {
  uint64_t sum = 0;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &bytes[at], std::min<size_t>(8, bytes.size() - at));
    sum += audit_mix(word, at / 8, seed);
  }
  return sum;
}

class Sizes : public ::testing::TestWithParam<size_t> {};

TEST_P(Sizes, AnyNumberOfThreadsGivesTheSameSum) {
  const std::vector<std::byte> bytes = bytes_of(GetParam());
  for (uint64_t seed : {uint64_t{0}, uint64_t{1} << 63}) {
    EXPECT_EQ(audit_hash(bytes, seed), plain(bytes, seed));
  }
}

TEST_P(Sizes, AnyChangedBitShows) {
  std::vector<std::byte> bytes = bytes_of(GetParam());
  if (bytes.empty()) return;
  const uint64_t before = audit_hash(bytes, 5);
  for (size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    for (int bit : {0, 7}) {
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_NE(audit_hash(bytes, 5), before) << at;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AuditHash, Sizes,
                         ::testing::Values(0, 1, 7, 8, 9, 64, 1000003, (1 << 23) - 8, (1 << 23) + 3,
                                           (1 << 25) + 5));

TEST(AuditHash, ExchangedWordsAndOtherSeedsShow) {
  std::vector<std::byte> bytes = bytes_of(64);
  const uint64_t before = audit_hash(bytes, 0);
  EXPECT_NE(audit_hash(bytes, 1), before);
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
  EXPECT_NE(audit_hash(bytes, 0), before);
}

TEST(AuditHash, SmallContentsDoNotCollide) {
  std::set<uint64_t> seen;
  for (uint64_t value = 0; value < 20000; ++value) {
    std::vector<std::byte> bytes(16);
    std::memcpy(bytes.data() + 8 * (value % 2), &value, 8);
    seen.insert(audit_hash(bytes, 0));
  }
  EXPECT_EQ(seen.size(), 20000u);
}

}  // namespace
}  // namespace kw::ports
