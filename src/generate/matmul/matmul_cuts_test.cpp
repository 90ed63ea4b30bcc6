// Tests the model on shapes whose better cut is known.
#include "matmul/matmul_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kw::generate {
namespace {

constexpr int64_t kSms = 132;

struct CutCase {
  const char* name;
  ProductExtents product;
  SmRates pace;
  bool split;      // whether splitting is worth two launches
  int64_t tile_m;  // of the better cut; 0: both are fine
  int64_t tile_n;
};

const CutCase kCutCases[] = {
    {"large", {1, 4096, 4096, 4096}, kCudaCores, false, 128, 128},
    {"few_tiles_long_sums", {1, 256, 4096, 14336}, kCudaCores, true, 128, 128},
    {"one_tile", {1, 64, 64, 65536}, kCudaCores, true, 0, 0},
    {"gradient_of_a_weight", {1, 256, 256, 65536}, kCudaCores, true, 0, 0},
    {"second_wave_two_thirds_full", {1, 256, 14336, 4096}, kCudaCores, true, 0, 0},
    {"many_waves_short_sums", {1, 14336, 4096, 256}, kCudaCores, false, 128, 128},
    {"small", {1, 128, 128, 64}, kCudaCores, false, 64, 64},
    {"full_wave_of_batches", {264, 128, 128, 1024}, kCudaCores, false, 0, 0},
    {"half_large", {1, 8192, 8192, 8192}, kTensorCores, false, 128, 128},
    {"half_few_tiles", {1, 256, 4096, 14336}, kTensorCores, true, 128, 128},
};

class Cuts : public testing::TestWithParam<CutCase> {};

TEST_P(Cuts, AreTheBetterOnes) {
  const CutCase& one = GetParam();
  const std::vector<int64_t> sizes = {128, 64};
  const Cut whole = cuts_of(one.product, false, sizes, sizes, one.pace, kSms).front();
  const Cut split = cuts_of(one.product, true, sizes, sizes, one.pace, kSms).front();
  EXPECT_EQ(whole.clocks / split.clocks > kLikelyFaster, one.split)
      << split.clocks << " against " << whole.clocks;
  const Cut& better = one.split ? split : whole;
  if (one.tile_m > 0) {
    EXPECT_EQ(better.tile_m, one.tile_m);
    EXPECT_EQ(better.tile_n, one.tile_n);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Cuts, testing::ValuesIn(kCutCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CutsInOrder, TheFastestFirst) {
  const auto cuts = cuts_of({3, 200, 700, 900}, true, {128, 64}, {128, 64}, kCudaCores, kSms);
  ASSERT_GT(cuts.size(), 1u);
  EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end(),
                             [](const Cut& a, const Cut& b) { return a.clocks < b.clocks; }));
}

TEST(CutsInOrder, NoTileIsLessThanAWarp) {
  for (const Cut& cut : cuts_of({1, 16, 4096, 512}, false, {16, 32}, {128, 64}, kCudaCores, kSms)) {
    EXPECT_GE(cut.tile_m * cut.tile_n, 2048);
  }
}

}  // namespace
}  // namespace kw::generate
