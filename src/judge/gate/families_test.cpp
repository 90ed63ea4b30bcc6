#include "gate/families.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/builder.h"
#include "tensor/convert.h"

namespace kw::gate {
namespace {

using tensor::DType;

constexpr int64_t kCount = 100000;

/// A task with one input x of a given length.
struct OneInput {
  task::Task task;
  graph::Graph graph;

  explicit OneInput(DType dtype, task::Legal legal = {}) {
    task.inputs = {{.name = "x", .dtype = dtype, .shape = {"N"}, .legal = std::move(legal)}};
    graph::Builder builder;
    const graph::NodeId x = builder.input("x", dtype, {graph::Dim::symbol("N", kCount)});
    graph = std::move(builder).finish({{"y", x}});
  }
  std::vector<double> drawn(const std::string& family, uint64_t seed) const {
    const auto inputs = draw_inputs(task, graph, {{"N", kCount}}, family, seed);
    std::vector<double> values(kCount);
    if (inputs) tensor::load_values((*inputs)[0], 0, values);
    EXPECT_TRUE(inputs) << family;
    return values;
  }
};

double share_of(const std::vector<double>& values, double value) {
  return static_cast<double>(std::count(values.begin(), values.end(), value)) /
         static_cast<double>(values.size());
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

TEST(Families, BoolsAreRareAndCommon) {
  const OneInput bools(DType::Bool);
  EXPECT_NEAR(share_of(bools.drawn("normal", 1), 1), 0.5, 0.02);
  double rare = 0, common = 0;  // one per row on average
  for (uint64_t seed = 0; seed < 20; ++seed) {
    rare += share_of(bools.drawn("spikes", seed), 1) * kCount / 20;
    common += share_of(bools.drawn("heavy", seed), 0) * kCount / 20;
  }
  EXPECT_NEAR(rare, 1, 0.9);
  EXPECT_NEAR(common, 1, 0.9);
  EXPECT_EQ(share_of(bools.drawn("zeros", 1), 1), 0);
  const double alike = share_of(bools.drawn("equal", 1), 1);
  EXPECT_TRUE(alike == 0 || alike == 1);
}

TEST(Families, FreeIntegersLeaveTheNarrowerType) {
  for (const auto& [dtype, beyond] : {std::pair(DType::Int64, 0x1p31),
                                      {DType::Int32, 0x1p15},
                                      {DType::Int16, 0x1p7},
                                      {DType::Int8, 100.0}}) {
    EXPECT_GT(largest_of(OneInput(dtype).drawn("spikes", 3)), beyond);
    EXPECT_LE(largest_of(OneInput(dtype).drawn("normal", 3)), 100);
  }
}

TEST(Families, LegalIntegersStayLegal) {
  task::Legal legal;
  legal.low = 0;
  legal.high = 9;
  for (const std::string& family : all_families()) {
    EXPECT_LE(largest_of(OneInput(DType::Int64, legal).drawn(family, 3)), 9) << family;
  }
}

TEST(Families, SpikesReachBeyondHalvesInEverySecondDraw) {
  int beyond = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    beyond += largest_of(OneInput(DType::Fp32).drawn("probe", seed)) > 65504 ? 1 : 0;
    EXPECT_EQ(largest_of(OneInput(DType::Fp16).drawn("probe", seed)), 1024);
  }
  EXPECT_GT(beyond, 8);
  EXPECT_LT(beyond, 32);
}

}  // namespace
}  // namespace kw::gate
