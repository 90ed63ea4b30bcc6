// Tests the parts of k and of columns that phases need: bounds become ranges, device code and
// averages.
#include "matmul/matmul_phases.h"

#include <gtest/gtest.h>

#include "emit/region.h"
#include "graph/builder.h"

namespace kw::generate {
namespace {

const Axis kChannel{"m2", Dim(8)}, kPhase{"m0", Dim(2)}, kTap{"k0", Dim(2)};

/// 3 taps with a stride of 2, reversed: tap 2 - 2 * k0 + m0 must be one of the kernel's.
Bound tap_bound() { return {variable("m0") + Dim(2) - Dim(2) * variable("k0"), Dim(0), Dim(3)}; }

/// With a padding of 1: column 2 * n0 + m0 - 1 must be one of the result's W.
Bound column_bound(int64_t width) {
  return {Dim(2) * variable("n0") + variable("m0") - Dim(1), Dim(0), Dim::symbol("W", width)};
}

TEST(PhaseRange, IsFoundInBoundsOfOneAxis) {
  const auto taps = PhaseRange::of(tap_bound(), {kTap}, kChannel);
  ASSERT_TRUE(taps);
  EXPECT_EQ(taps->step, -2);
  EXPECT_EQ(taps->divisor(), 2);
  EXPECT_EQ(taps->first().text(), "m0 + 1");
  EXPECT_EQ(taps->past().text(), "m0 + 4");
  const auto columns = PhaseRange::of(column_bound(7), {{"n0", Dim(4)}}, kChannel);
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->first().text(), "2 - m0");
  EXPECT_EQ(columns->past().text(), "W + 2 - m0");
}

TEST(PhaseRange, IsNotFoundWhereOthersDecide) {
  const Axis other{"k1", Dim(2)};
  const Bound both{variable("k0") + variable("k1"), Dim(0), Dim(3)};
  EXPECT_FALSE(PhaseRange::of(both, {other, kTap}, kChannel));
  const Bound of_channel{variable("k0") + variable("m2"), Dim(0), Dim(3)};
  EXPECT_FALSE(PhaseRange::of(of_channel, {kTap}, kChannel));
  const Bound of_phase{variable("m0"), Dim(0), Dim(1)};
  EXPECT_FALSE(PhaseRange::of(of_phase, {kTap}, kChannel));
}

Phases one_dim(int64_t width) {
  Phases phases;
  phases.axes = {kPhase};
  phases.k = {*PhaseRange::of(tap_bound(), {kTap}, kChannel)};
  phases.columns = {*PhaseRange::of(column_bound(width), {{"n0", Dim(5)}}, kChannel)};
  return phases;
}

// Phase 0 has two taps and its results at 1, 3, 5; phase 1 has one and its results at 0, 2, 4, 6.
TEST(Phases, KnowTheirAverage) {
  const ProductExtents average = one_dim(7).average({2, 8, 5, 2 * 16});
  EXPECT_EQ(average.batches, 2);
  EXPECT_EQ(average.m, 8);
  EXPECT_EQ(average.n, (3 + 4) / 2);
  EXPECT_EQ(average.k, (3 * 32 + 4 * 16) / 7);
}

TEST(Phases, WithoutTapsHaveNoK) {
  Phases phases;
  phases.axes = {kPhase};
  phases.alive = {{variable("m0"), Dim(0), Dim(1)}};
  EXPECT_EQ(phases.average({2, 8, 10, 16}).k, 8);
}

TEST(Phases, AreFoundByTheBlock) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {Dim::symbol("W", 7)});
  const Graph graph = std::move(b).finish({{"y", x}});
  Region region;
  region.graph = &graph;
  Emitter e(region);
  e.open({"m0"}, 0);
  CudaWriter w;
  Phases phases = one_dim(7);
  phases.alive = {{variable("m0"), Dim(0), Dim(1)}};
  phases.write(e, w);
  EXPECT_EQ(w.text(), R"(const Index k0_from = max(static_cast<Index>(0), m0 + 1) / 2;
const Index k0_past = min(static_cast<Index>(2), max(static_cast<Index>(0), m0 + 4) / 2);
const Index k0_many = k0_from < k0_past ? k0_past - k0_from : 1;
const Index n0_from = max(static_cast<Index>(0), 2 - m0) / 2;
const Index n0_past = min(static_cast<Index>(5), max(static_cast<Index>(0), W + 2 - m0) / 2);
const Index n0_many = n0_from < n0_past ? n0_past - n0_from : 0;
const bool alive = m0 >= 0 && m0 < 1 && k0_from < k0_past;
)");
  EXPECT_EQ(e.used().parameters, std::set<std::string>{"W"});
}

}  // namespace
}  // namespace kw::generate
