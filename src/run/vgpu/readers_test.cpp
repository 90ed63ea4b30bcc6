#include "vgpu/readers.h"

#include <gtest/gtest.h>

#include <set>

namespace kw::vgpu {
namespace {

namespace st = shared_stamp;

constexpr uint32_t kPc = 7;

uint64_t read_at(uint32_t time, uint32_t warp, uint64_t flags = 0) {
  return st::make(time, warp * kLanes, kPc, flags);
}

std::set<std::pair<uint32_t, uint32_t>> all(const ReaderLists& lists, uint64_t list) {
  std::set<std::pair<uint32_t, uint32_t>> found;  // thread, time
  lists.find(list, [&](uint64_t stamp) {
    found.emplace(st::thread(stamp), st::time(stamp));
    return false;
  });
  return found;
}

TEST(ReaderLists, NameEveryReader) {
  ReaderLists lists(26, st::warp);
  uint64_t list = 0;
  lists.add(list, read_at(1, 0), 0x5);
  lists.add(list, read_at(1, 0), 0x2);
  lists.add(list, read_at(1, 3), 0x1);
  lists.add(list, read_at(2, 0), 0x80000000);
  const std::set<std::pair<uint32_t, uint32_t>> expected = {
      {0, 1}, {1, 1}, {2, 1}, {96, 1}, {31, 2}};
  EXPECT_EQ(all(lists, list), expected);
  EXPECT_EQ(all(lists, lists.copy(list)), expected);
  EXPECT_TRUE(all(lists, 0).empty());
}

TEST(ReaderLists, FindStopsAtTheFirst) {
  ReaderLists lists(26, st::warp);
  uint64_t list = 0;
  lists.add(list, read_at(1, 2), 0xf0);
  EXPECT_EQ(st::thread(lists.find(list, [](uint64_t s) { return st::thread(s) > 69; })), 70u);
  EXPECT_EQ(lists.find(list, [](uint64_t) { return false; }), 0u);
}

TEST(ReaderLists, StayShortInALongLoop) {
  ReaderLists lists(26, st::warp);
  uint64_t list = 0;
  for (uint32_t time = 1; time <= 10000; ++time)
    for (uint32_t warp = 0; warp < 4; ++warp) lists.add(list, read_at(time, warp), ~0u);
  const auto found = all(lists, list);
  EXPECT_LT(found.size(), 3u * 4 * kLanes) << "old reads of the same lanes are dropped";
  for (uint32_t thread = 0; thread < 4 * kLanes; ++thread)
    EXPECT_TRUE(found.contains({thread, 10000})) << thread;
}

TEST(ReaderLists, KeepWeakReadsBesideLaterStrongOnes) {
  ReaderLists lists(26, st::warp);
  uint64_t list = 0;
  lists.add(list, read_at(1, 0), 0x1);
  for (uint32_t time = 2; time < 40; ++time) lists.add(list, read_at(time, 0, st::kStrong), 0x1);
  EXPECT_TRUE(all(lists, list).contains({0, 1}));
}

TEST(SharedReaders, FindRunsOfUnits) {
  SharedReaders readers;
  readers.note({read_at(1, 1), 10, 4, 1, 0});   // lane i reads unit 10 + i
  readers.note({read_at(1, 2), 12, 1, 32, 0});  // all lanes read unit 12
  const auto count = [&](uint32_t unit) {
    int lanes = 0;
    readers.find(unit, [&](uint64_t) {
      ++lanes;
      return false;
    });
    return lanes;
  };
  EXPECT_EQ(count(9), 0);
  EXPECT_EQ(count(10), 1);
  EXPECT_EQ(count(12), 33);
  EXPECT_EQ(st::thread(readers.find(13, [](uint64_t) { return true; })), 35u);
  readers.forget(12);
  EXPECT_EQ(count(12), 0);
  EXPECT_EQ(count(13), 1);
  readers.clear();
  EXPECT_EQ(count(13), 0);
}

}  // namespace
}  // namespace kw::vgpu
