// Casts that the author wrote to narrower floats: those to 8 bits round, those to half types may.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ports/bound.h"
#include "truth/test_graph.h"

namespace kw::truth {
namespace {

using graph::Op;
using ports::Truth;
using tensor::DType;

double bound_of(const Truth& truth, int64_t at) { return ports::bound_at(truth, at, false); }

/// x.to(type).float(), computed with.
Truth fake_quantised(const std::vector<double>& values, DType type, DType from = DType::Fp32) {
  TestGraph g;
  const auto x = g.input(floats(from, {static_cast<int64_t>(values.size())}, values));
  return g.truth(g.builder.cast(g.builder.cast(x, type), DType::Fp32));
}

TEST(SnapTest, CastToByteThatIsComputedWithRounds) {
  const Truth y = fake_quantised({1.1, -1.1, 0.3, 0.001}, DType::Fp8e4m3);
  EXPECT_EQ(y.value[0], 1.125);
  EXPECT_EQ(y.value[1], -1.125);
  EXPECT_EQ(y.value[2], 0.3125);
  EXPECT_EQ(y.value[3], 0.001953125) << "half a step of the subnormals and more";
  for (int64_t k = 0; k < 4; ++k) EXPECT_LT(bound_of(y, k), 1e-6 * std::fabs(y.value[k]) + 1e-40);
  EXPECT_EQ(fake_quantised({1.1}, DType::Fp8e5m2).value[0], 1.0);
  EXPECT_EQ(fake_quantised({1.4, 1.5, 3, -6}, DType::E8m0).value,
            (tensor::Large<double>{1, 2, 4, 8}));
}

TEST(SnapTest, CastThatIsOnlyStoredKeepsItsLastRounding) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1}, {1.1}));
  const Truth y = g.truth(g.builder.cast(x, DType::Fp8e4m3));
  EXPECT_NEAR(y.value[0], 1.1, 1e-7);
}

TEST(SnapTest, BesideTheMiddleBothNeighboursAreRight) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2}, {1.0625 / 3, 1.1 / 3}));
  const auto q = g.builder.cast(g.binary(Op::Mul, x, 3.0), DType::Fp8e4m3);
  const Truth y = g.truth(g.binary(Op::Mul, g.builder.cast(q, DType::Fp32), 2.0));
  ASSERT_FALSE(y.jump.empty());
  EXPECT_NEAR(y.jump[0], 0.25, 1e-3) << "1 or 1.125, times 2";
  EXPECT_EQ(y.jump[1], 0) << "far from the middle";
  EXPECT_LT(bound_of(y, 1), 1e-5);
}

TEST(SnapTest, BeyondTheFormatItClipsOrIsNan) {
  const Truth y = fake_quantised({1000, -1000, 464, 400}, DType::Fp8e4m3);
  EXPECT_EQ(y.value[0], 448);
  EXPECT_EQ(y.value[1], -448);
  EXPECT_EQ(y.value[2], 448);
  EXPECT_EQ(y.may_overflow[0], ports::kMayBeNan);
  EXPECT_EQ(y.may_overflow[3], 0);
  const Truth z = fake_quantised({70000, 50000}, DType::Fp8e5m2);
  EXPECT_EQ(z.value[0], HUGE_VAL);
  EXPECT_TRUE(std::ranges::any_of(
      z.others, [](const ports::OtherValue& o) { return o.index == 0 && o.value == 57344; }));
  EXPECT_EQ(z.value[1], 49152);
}

TEST(SnapTest, WhatIsBetweenTwoHalvesRoundsTheSameWay) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {2}, {1.1, 300}));
  const auto s = g.input(floats(DType::Fp16, {2}, {0.5, 0.5}));
  const auto q = g.builder.cast(g.binary(Op::Mul, x, s), DType::Fp8e5m2);
  const Truth y = g.truth(g.builder.cast(q, DType::Fp16));
  EXPECT_EQ(y.value[0], 0.5);
  EXPECT_EQ(y.value[1], 160);
}

TEST(SnapTest, WrittenCastToHalfAllowsBothWays) {
  TestGraph g;
  const double value = 1 + 0x1p-11 * 0.99;  // nearly half a step above 1
  const auto x = g.input(floats(DType::Fp32, {1}, {value}));
  g.builder.at("half");
  const auto half = g.builder.cast(x, DType::Fp16);
  const Truth y = g.truth(g.builder.cast(half, DType::Fp32));
  EXPECT_NEAR(y.value[0], value, 1e-6);
  const double rounded = std::fabs(1 - y.value[0]) / bound_of(y, 0);
  EXPECT_LT(rounded, 0.5) << "a kernel that rounds there keeps the rms of z below the limit";
}

}  // namespace
}  // namespace kw::truth
