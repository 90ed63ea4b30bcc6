#include "timing/cost_model.h"

#include <gtest/gtest.h>

namespace kw::timing {
namespace {

CostRequest copy_kernel(uint64_t blocks, int threads, uint64_t bytes_per_lane) {
  CostLaunch launch;
  launch.blocks = blocks;
  launch.threads = threads;
  const uint64_t bytes = uint64_t{1} << 28;
  launch.counted.global_load_bytes = launch.counted.global_store_bytes = bytes;
  launch.counted.global_load_sectors = launch.counted.global_store_sectors = bytes / 32;
  launch.counted.global_load_requests = bytes / (32 * bytes_per_lane);
  launch.counted.global_store_requests = launch.counted.global_load_requests;
  launch.counted.warp_total = 8 * launch.counted.global_load_requests;
  launch.readable_bytes = 2.0 * static_cast<double>(bytes);
  launch.writable_bytes = static_cast<double>(bytes);
  CostRequest request;
  request.launches = {launch};
  request.target = *arch::find_target("sm_90");
  request.gpu = &reference_gpu();
  return request;
}

TEST(CostModel, ACopyIsBoundByMemoryNearTheFloor) {
  const Cost cost = cost_of(copy_kernel(65536, 256, 16));
  ASSERT_EQ(cost.launches.size(), 1u);
  EXPECT_EQ(cost.launches[0].bound, "memory");
  const double floor = 2.0 * (1 << 28) / 4244e3;
  EXPECT_GT(cost.us, floor);
  EXPECT_LT(cost.us, 1.2 * floor);
}

TEST(CostModel, WideAccessesBeatNarrowOnes) {
  EXPECT_LT(cost_of(copy_kernel(65536, 128, 16)).us, cost_of(copy_kernel(65536, 128, 2)).us);
}

TEST(CostModel, FewBlocksLeaveTheGpuIdle) {
  EXPECT_LT(cost_of(copy_kernel(65536, 256, 16)).us, cost_of(copy_kernel(8, 256, 16)).us);
}

TEST(CostModel, BlocksThatSmsDoNotShareEvenlyTakeLonger) {
  CostRequest even = copy_kernel(264, 256, 16);
  even.launches[0].counted.flops_fp32 = uint64_t{1} << 38;
  even.launches[0].registers = 128;
  CostRequest uneven = even;
  uneven.launches[0].blocks = 224;
  EXPECT_EQ(cost_of(even).launches[0].bound, "compute");
  EXPECT_GT(cost_of(uneven).us, 1.1 * cost_of(even).us);
}

TEST(CostModel, RegistersCostOccupancy) {
  CostRequest lean = copy_kernel(65536, 256, 4), fat = lean;
  lean.launches[0].registers = 32;
  fat.launches[0].registers = 255;
  EXPECT_GT(cost_of(lean).launches[0].occupancy, cost_of(fat).launches[0].occupancy);
  EXPECT_LT(cost_of(lean).us, cost_of(fat).us);
}

TEST(CostModel, WhatGoesThroughMemoryTwiceCostsTwice) {
  CostRequest fused = copy_kernel(65536, 256, 16), split = fused;
  split.launches.push_back(split.launches[0]);
  EXPECT_NEAR(cost_of(split).us, 2 * cost_of(fused).us, 1e-6);
}

TEST(CostModel, ReadingAgainIsNotReadingFromMemory) {
  CostRequest once = copy_kernel(65536, 256, 16), twice = once;
  twice.launches[0].counted.global_load_sectors *= 2;
  EXPECT_EQ(cost_of(twice).launches[0].memory_us > cost_of(once).launches[0].memory_us, true);
  once.launches[0].readable_bytes = twice.launches[0].readable_bytes = 1 << 28;
  EXPECT_EQ(cost_of(twice).launches[0].memory_us, cost_of(once).launches[0].memory_us);
}

TEST(CostModel, ALaunchMayGrowOtherwiseThanTheTask) {
  CostRequest request = copy_kernel(65536, 256, 16);
  request.scale = 1000;
  const double with_task = cost_of(request).launches[0].issue_us;
  request.launches[0].growth = 10;
  EXPECT_NEAR(cost_of(request).launches[0].issue_us, with_task / 100, 1e-9 * with_task);
}

TEST(CostModel, NothingIsQuickerThanALaunch) {
  CostRequest request = copy_kernel(1, 32, 16);
  request.launches[0].counted = {};
  EXPECT_GE(cost_of(request).us, reference_gpu().launch_us);
  EXPECT_EQ(cost_of(request).launches[0].bound, "launch");
}

}  // namespace
}  // namespace kw::timing
