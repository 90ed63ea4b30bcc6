#include "arch/arch.h"

#include <gtest/gtest.h>

namespace kw::arch {
namespace {

Target target(const char* name) { return *find_target(name); }

TEST(Targets, AreOrderedAndConsistent) {
  const Target* before = nullptr;
  for (const Target& row : targets()) {
    SCOPED_TRACE(row.name);
    EXPECT_LE(row.shared_per_block, row.shared_per_block_optin);
    EXPECT_LE(row.shared_per_block_optin, row.shared_per_sm);
    EXPECT_EQ(row.threads_per_sm % kWarpSize, 0);
    EXPECT_EQ(std::string(row.name).back() == 'a', row.specific);
    if (before != nullptr) {
      EXPECT_GE(row.major * 10 + row.minor, before->major * 10 + before->minor);
    }
    before = &row;
  }
}

TEST(Targets, FindNamesTheNearest) {
  EXPECT_STREQ(target("sm_90a").name, "sm_90a");
  const auto unknown = find_target("sm_91");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().blame, Blame::Input);
  EXPECT_NE(unknown.error().message.find("did you mean 'sm_9"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("sm_120a"), std::string::npos);
}

struct ResidentCase {
  const char* name;
  const char* target;
  int threads, registers;
  int64_t shared;
  int want;
};

class ResidentBlocks : public testing::TestWithParam<ResidentCase> {};

TEST_P(ResidentBlocks, MatchesTheOccupancyRules) {
  const ResidentCase& c = GetParam();
  EXPECT_EQ(resident_blocks(target(c.target), c.threads, c.registers, c.shared), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ResidentBlocks,
    testing::Values(
        ResidentCase{"threads_limit", "sm_90", 256, 32, 0, 8},
        ResidentCase{"blocks_limit", "sm_90", 32, 16, 0, 32},
        ResidentCase{"turing_threads", "sm_75", 256, 32, 0, 4},
        // 64 registers: 2048 per warp, 8 warps per quarter, 32 warps, 4 blocks of 8 warps.
        ResidentCase{"registers_limit", "sm_90", 256, 64, 0, 4},
        // 33 registers: 1056 -> 1280 per warp, 12 warps per quarter, 48 warps.
        ResidentCase{"registers_granularity", "sm_90", 256, 33, 0, 6},
        ResidentCase{"registers_too_many", "sm_90", 1024, 65, 0, 0},
        ResidentCase{"registers_unknown", "sm_90", 1024, -1, 0, 2},
        ResidentCase{"registers_over_255", "sm_90", 32, 256, 0, 0},
        ResidentCase{"shared_whole_sm", "sm_90", 128, 32, 227 * 1024, 1},
        ResidentCase{"shared_over_optin", "sm_90", 128, 32, 227 * 1024 + 1, 0},
        // 228 KiB / (48 + 1) KiB = 4.
        ResidentCase{"shared_reserved", "sm_90", 128, 32, 48 * 1024, 4},
        // Turing reserves nothing: 64 / 32 = 2.
        ResidentCase{"shared_turing", "sm_75", 128, 32, 32 * 1024, 2},
        ResidentCase{"odd_threads", "sm_80", 33, 32, 0, 32},
        ResidentCase{"no_threads", "sm_80", 0, 32, 0, 0},
        ResidentCase{"too_many_threads", "sm_80", 1025, 32, 0, 0},
        ResidentCase{"ada_blocks", "sm_89", 32, 16, 0, 24}),
    [](const auto& c) { return c.param.name; });

struct LimiterCase {
  const char* name;
  int threads, registers;
  int64_t shared;
  const char* limiter;
  double share;
};

class OccupancyLimit : public testing::TestWithParam<LimiterCase> {};

TEST_P(OccupancyLimit, NamesWhatStopsTheNextBlock) {
  const LimiterCase& c = GetParam();
  const Occupancy found = occupancy(target("sm_90"), c.threads, c.registers, c.shared);
  EXPECT_STREQ(found.limiter, c.limiter);
  EXPECT_DOUBLE_EQ(found.share, c.share);
}

INSTANTIATE_TEST_SUITE_P(Cases, OccupancyLimit,
                         testing::Values(LimiterCase{"threads", 256, 32, 0, "threads", 1.0},
                                         LimiterCase{"blocks", 32, 16, 0, "blocks", 0.5},
                                         LimiterCase{"registers", 256, 64, 0, "registers", 0.5},
                                         LimiterCase{"shared", 128, 32, 48 * 1024, "shared", 0.25},
                                         // Half a warp of threads still occupies a whole warp.
                                         LimiterCase{"odd", 48, 16, 0, "threads", 1.0},
                                         LimiterCase{"nothing", 2048, 32, 0, "launch", 0.0}),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace kw::arch
