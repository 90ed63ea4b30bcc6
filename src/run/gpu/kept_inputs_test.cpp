#include "gpu/kept_inputs.h"

#include <gtest/gtest.h>

#include "ports/audit_hash.h"

namespace kw::gpu {
namespace {

TEST(InputKey, ContentsOfAnotherSizeAreOthers) {
  const std::vector<std::byte> four(4), eight(8);
  const uint64_t hash = ports::audit_hash(four, 0);
  ASSERT_EQ(hash, ports::audit_hash(eight, 0)) << "then keys need the size no more";
  EXPECT_NE(input_key(hash, four.size()), input_key(hash, eight.size()));
  EXPECT_EQ(hash_of_key(input_key(hash, four.size()), four.size()), hash);
}

}  // namespace
}  // namespace kw::gpu
