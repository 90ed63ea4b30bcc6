#include "clock/floor.h"

#include <gtest/gtest.h>

namespace kw::clock {
namespace {

record::Calibration h200() {
  record::Calibration c;
  c.read = 4335;
  c.add = 4351;
  c.copy = 4244;
  c.write = 4595;
  c.launch_us = 1.3;
  c.peaks = {{"fp32", "fma", 51},
             {"fp16", "fma.f16x2", 100},
             {"fp16", "mma.m16n8k16", 600},
             {"fp16", "wgmma.m64n256k16", 750},
             {"tf32", "wgmma.m64n256k8", 400}};
  return c;
}

TEST(Bandwidth, GoesThroughTheMeasuredMixes) {
  const record::Calibration c = h200();
  EXPECT_EQ(c.bandwidth(1, 0), 4335);
  EXPECT_EQ(c.bandwidth(0, 1), 4595);
  EXPECT_EQ(c.bandwidth(5, 5), 4244);
  EXPECT_NEAR(c.bandwidth(2, 1), 4351, 1e-9);
  EXPECT_GT(c.bandwidth(1, 3), 4244);
  EXPECT_LT(c.bandwidth(1, 3), 4595);
  EXPECT_EQ(c.bandwidth(0, 0), 4335);
}

TEST(Floor, OfACopyIsItsBytes) {
  Work work;
  work.read_bytes = work.write_bytes = 1 << 30;
  work.flops = 1 << 20;
  const Floor floor = floor_of(work, h200());
  EXPECT_NEAR(floor.us, 2.0 * (1 << 30) / 4244e3, 1e-6);
  EXPECT_EQ(floor.bound, "memory");
}

TEST(Floor, OfAMatmulIsItsProducts) {
  Work work;
  work.read_bytes = 2.0 * 2 * 8192 * 8192;
  work.write_bytes = 2.0 * 8192 * 8192;
  work.flops = work.tensor_flops = 2.0 * 8192 * 8192 * 8192;
  work.product = "fp16";
  Floor floor = floor_of(work, h200());
  EXPECT_EQ(floor.bound, "compute");
  EXPECT_NEAR(floor.us, work.flops / 750e6, 1e-3);
  work.product = "bf16";  // not measured here: the peak of fp16 is used
  EXPECT_NEAR(floor_of(work, h200()).us, floor.us, 1e-9);
  work.product = "fp32";
  EXPECT_NEAR(floor_of(work, h200()).us, work.flops / 51e6, 1e-3);
}

TEST(Floor, OfAlmostNothingIsALaunch) {
  Work work;
  work.read_bytes = 1000;
  EXPECT_EQ(floor_of(work, h200()).bound, "launch");
  EXPECT_EQ(floor_of(work, h200()).us, 1.3);
}

TEST(Implausible, OnlyWhereMemoryMustHaveBeenRead) {
  ports::DeviceInfo device;
  device.l2_bytes = 60 << 20;
  device.dram_gbps = 4800;
  Work work;
  work.read_bytes = work.write_bytes = 500e6;
  EXPECT_EQ(implausible(work, 230, device), "");
  EXPECT_NE(implausible(work, 200, device), "");
  // Flops never make a time implausible.
  work.flops = 1e18;
  EXPECT_EQ(implausible(work, 230, device), "");
  // Bytes that may come from the L2, or may not be needed, do not count.
  work.gathered_bytes = 490e6;
  EXPECT_EQ(implausible(work, 150, device), "");
  work = {};
  work.read_bytes = 150e6;
  EXPECT_EQ(implausible(work, 1, device), "");
  device.dram_gbps = 0;
  work.read_bytes = 1e12;
  EXPECT_EQ(implausible(work, 1, device), "");
}

}  // namespace
}  // namespace kw::clock
