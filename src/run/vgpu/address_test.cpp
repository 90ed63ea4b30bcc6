#include "vgpu/address.h"

#include <gtest/gtest.h>

#include <set>

namespace kw::vgpu {
namespace {

constexpr uint32_t kRegions = 5;
constexpr uint64_t kLargest = 3 << 20;
constexpr uint32_t kWindows[] = {kSharedRegion, kLocalRegion, kParamRegion, kCodeRegion};

TEST(AddressMap, OwnersAreKnownFarOutOfBounds) {
  for (const uint64_t chance : {uint64_t{0}, uint64_t{1}, uint64_t{0x9876543210}}) {
    for (const bool close : {false, true}) {
      const AddressMap map(kRegions, kLargest, chance, close);
      const uint64_t reach = close ? kLargest : uint64_t{1} << 34;
      for (uint32_t r = kFirstRegion; r < kRegions; ++r) {
        EXPECT_EQ(map.region_of(map.region_address(r)), r);
        EXPECT_EQ(map.region_of(map.region_address(r) + reach), r);
        EXPECT_EQ(map.region_of(map.region_address(r) - reach), r);
      }
      for (const uint32_t window : kWindows) {
        EXPECT_EQ(map.region_of(map.window(window)), window);
        EXPECT_EQ(map.region_of(map.window(window) - 1), window);
        EXPECT_EQ(map.region_of(map.window(window) + (1u << 31)), window);
      }
      EXPECT_TRUE(map.is_shared(map.window(kSharedRegion)));
      EXPECT_FALSE(map.is_shared(map.window(kLocalRegion)));
      for (const uint64_t wild : {uint64_t{0}, uint64_t{1} << 32, ~uint64_t{0}, uint64_t{1} << 60})
        EXPECT_EQ(map.region_of(wild), kNowhere);
    }
  }
}

TEST(AddressMap, LiesWhereDriversPlaceMemory) {
  std::set<uint64_t> seen;
  for (uint64_t chance = 1; chance <= 64; ++chance) {
    for (const bool close : {false, true}) {
      const AddressMap map(kRegions, kLargest, chance, close);
      for (uint32_t r = kFirstRegion; r < kRegions; ++r) {
        const uint64_t top = map.region_address(r) >> 40;
        EXPECT_TRUE(top == 0x7e || top == 0x7f) << std::hex << map.region_address(r);
        EXPECT_EQ(map.region_address(r) % 512, 0);
        seen.insert(map.region_address(r));
      }
      for (const uint32_t window : kWindows) EXPECT_EQ(map.window(window) >> 47, 0);
      EXPECT_EQ(map.window(kSharedRegion) % (uint64_t{1} << 32), 0);
    }
  }
  EXPECT_GT(seen.size(), 200u) << "they differ from run to run";
}

TEST(AddressMap, CloseRegionsAreNoFartherApartThanTheyMustBe) {
  const AddressMap map(kRegions, kLargest, 7, true);
  EXPECT_LE(map.region_address(kRegions - 1) - map.region_address(kFirstRegion),
            (kRegions - 2) * 8 * kLargest);
}

TEST(AddressMap, HugeAndManyRegionsFit) {
  const AddressMap huge(3, uint64_t{1} << 40, 5, false), many(kMaxRegions, 1 << 10, 5, false);
  EXPECT_EQ(huge.region_of(huge.region_address(2) + (uint64_t{1} << 40)), 2u);
  EXPECT_EQ(many.region_of(many.region_address(kMaxRegions - 1)), kMaxRegions - 1);
}

}  // namespace
}  // namespace kw::vgpu
