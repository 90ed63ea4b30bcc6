#include "os/entropy.h"

#include <gtest/gtest.h>

#include <set>

namespace kw::os {

TEST(Entropy, GivesOtherBitsEveryTime) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const auto bits = random_bits();
    ASSERT_TRUE(bits) << bits.error().message;
    seen.insert(*bits);
  }
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace kw::os
