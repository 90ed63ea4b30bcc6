#include "shapes/scalar_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/builder.h"

namespace kw::shapes {
namespace {

using tensor::DType;

/// x * (lr / (1 - pow(beta, step))).
graph::Graph step_graph() {
  graph::Builder b;
  const graph::NodeId x = b.input("x", DType::Fp32, {graph::Dim::symbol("N", 8)});
  const graph::Number rate(1.0, "lr / (1 - pow(beta, step))");
  const auto y = b.binary(graph::Op::Mul, graph::Operand::tensor(x), graph::Operand::of(rate));
  return std::move(b).finish({{"y", *y}});
}

task::Task step_task(bool runtime) {
  task::Task task;
  task.scalars = {{"lr", DType::Fp32, 1e-3, 0, runtime},
                  {"beta", DType::Fp32, 0.9, 0, runtime},
                  {"step", DType::Int64, 0, 10, runtime},
                  {"fixed", DType::Fp32, 2, 0, false}};
  return task;
}

ShapePlan plan_with(const graph::Graph& graph) {
  ShapePlan plan;
  ShapeCase one;
  one.dims = {{"N", 8}};
  one.demanded = one.benchmark = true;
  one.graph = graph;
  plan.cases = {one};
  return plan;
}

TEST(ScalarCases, ValuesStayOfTheirKind) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    ShapePlan plan = plan_with(step_graph());
    ASSERT_TRUE(add_scalar_cases(step_task(true), seed, 1e8, plan));
    ASSERT_EQ(plan.cases.size(), 8U);
    for (size_t i = 1; i < plan.cases.size(); ++i) {
      const auto& values = plan.cases[i].graph.scalars;
      EXPECT_EQ(values.count("fixed"), 0U);
      EXPECT_GT(values.at("lr"), 0);
      EXPECT_NE(values.at("lr"), 1e-3);
      EXPECT_GT(values.at("beta"), 0);
      EXPECT_LT(values.at("beta"), 1);
      EXPECT_GE(values.at("step"), 1);
      EXPECT_EQ(values.at("step"), static_cast<double>(static_cast<int64_t>(values.at("step"))));
      EXPECT_FALSE(plan.cases[i].demanded || plan.cases[i].benchmark);
    }
  }
}

TEST(ScalarCases, TheGraphComputesWithThem) {
  ShapePlan plan = plan_with(step_graph());
  ASSERT_TRUE(add_scalar_cases(step_task(true), 1, 1e8, plan));
  const graph::Graph& other = plan.cases[1].graph;
  const auto& v = other.scalars;
  const double rate = v.at("lr") / (1 - std::pow(v.at("beta"), v.at("step")));
  EXPECT_EQ(other.nodes[1].attrs.number, static_cast<float>(rate));
}

TEST(ScalarCases, ValuesAreAlsoFarFromTheTask) {
  double least = 1, most_step = 0;
  bool alike = false, thousand = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ShapePlan plan = plan_with(step_graph());
    ASSERT_TRUE(add_scalar_cases(step_task(true), seed, 1e8, plan));
    for (size_t i = 1; i < plan.cases.size(); ++i) {
      const auto& values = plan.cases[i].graph.scalars;
      least = std::min(least, values.at("beta"));
      most_step = std::max(most_step, values.at("step"));
      alike = alike || values.at("lr") == values.at("beta");
      thousand = thousand || values.at("step") == 1000;
    }
  }
  EXPECT_LT(least, 0.05);
  EXPECT_GT(most_step, 0x1p32);
  EXPECT_TRUE(alike);
  EXPECT_TRUE(thousand);
}

TEST(ScalarCases, ConstantsOfTheCodeOfTheirKind) {
  const ShapePlan plan = plan_with(step_graph());
  inputs::Immediates module;
  module.numbers = {0.75, -3, 2};
  module.compared_numbers = 2;
  module.integers = {1000, -1, 77};
  module.compared_integers = 2;
  const auto cases = constant_scalar_cases(step_task(true), plan, module, 1e8);
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 3U);
  const auto& values = cases->front().graph.scalars;
  EXPECT_EQ(values.at("lr"), 0.75);
  EXPECT_EQ(values.at("beta"), 0.75);
  EXPECT_EQ(values.at("step"), 1000);
  EXPECT_LT((*cases)[1].graph.scalars.at("lr"), 0.75) << "the other side of a comparison";
  EXPECT_GT((*cases)[2].graph.scalars.at("lr"), 0.75);
  EXPECT_EQ((*cases)[1].graph.scalars.at("step"), 999);
  EXPECT_TRUE(constant_scalar_cases(step_task(false), plan, module, 1e8)->empty());
  EXPECT_TRUE(constant_scalar_cases(step_task(true), plan, {}, 1e8)->empty());
}

TEST(ScalarCases, NoneWithoutRuntimeScalars) {
  ShapePlan plan = plan_with(step_graph());
  ASSERT_TRUE(add_scalar_cases(step_task(false), 1, 1e8, plan));
  EXPECT_EQ(plan.cases.size(), 1U);
}

}  // namespace
}  // namespace kw::shapes
