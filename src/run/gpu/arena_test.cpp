#include "gpu/arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kw::gpu {
namespace {

TEST(Arena, RangesAreAlignedAndApart) {
  Arena arena;
  const Range a = arena.reserve(1);
  const Range b = arena.reserve(300);
  const Range c = arena.reserve(0);
  const Range d = arena.reserve(7);
  ASSERT_TRUE(arena.commit().has_value());
  EXPECT_EQ(a.offset, 0u);
  EXPECT_EQ(b.offset, 256u);
  EXPECT_EQ(c.offset, 768u);
  EXPECT_EQ(d.offset, 768u);
  EXPECT_GE(arena.memory().size(), d.offset + d.bytes);
  std::memset(arena.at(b), 1, b.bytes);
}

TEST(Arena, KeepsItsMemoryWhileItFits) {
  Arena arena;
  arena.reserve(uint64_t{8} << 20);
  ASSERT_TRUE(arena.commit().has_value());
  const uint64_t first = arena.generation();
  EXPECT_NE(first, 0u);
  arena.clear();
  arena.reserve(10);
  ASSERT_TRUE(arena.commit().has_value());
  EXPECT_EQ(arena.generation(), first);
  arena.clear();
  arena.reserve(uint64_t{9} << 20);
  ASSERT_TRUE(arena.commit().has_value());
  EXPECT_NE(arena.generation(), first);
}

TEST(Arena, GivesBackWhatIsFarTooMuchForLong) {
  Arena arena;
  arena.reserve(uint64_t{300} << 20);
  ASSERT_TRUE(arena.commit().has_value());
  const uint64_t first = arena.generation();
  const auto little = [&] {
    arena.clear();
    arena.reserve(10);
    return arena.commit().has_value();
  };
  ASSERT_TRUE(little());
  EXPECT_EQ(arena.generation(), first) << "the next large one comes soon";
  int requests = 1;
  while (arena.generation() == first && ++requests < 100000) ASSERT_TRUE(little());
  EXPECT_NE(arena.generation(), first);
  EXPECT_LT(arena.memory().size(), uint64_t{300} << 20);
}

}  // namespace
}  // namespace kw::gpu
