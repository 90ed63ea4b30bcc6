#include "shapes/shapes.h"

#include <gtest/gtest.h>

#include <set>

#include "inputs/fake_task.h"
#include "inputs/families.h"

namespace kw::shapes {

using inputs::fake_task;
using inputs::FakeReference;

namespace {

std::set<int64_t> extents_of(const ShapePlan& plan, const std::string& dim) {
  std::set<int64_t> values;
  for (const ShapeCase& shape : plan.cases) values.insert(shape.dims.at(dim));
  return values;
}

const ShapeCase* find(const ShapePlan& plan, const task::Dims& dims) {
  for (const ShapeCase& shape : plan.cases) {
    if (shape.dims == dims) return &shape;
  }
  return nullptr;
}

}  // namespace

TEST(Shapes, AreTheTasksOwnAndAwkwardOnes) {
  const task::Task task = fake_task();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  for (const int64_t extent : {1, 7, 31, 64, 129, 257, 1000, 1030})
    EXPECT_TRUE(extents_of(*plan, "D").count(extent)) << extent;
  EXPECT_TRUE(extents_of(*plan, "B").count(1));
  EXPECT_GT(*extents_of(*plan, "B").rbegin(), 1024) << "more rows than blocks";
  EXPECT_NE(find(*plan, {{"B", 48}, {"D", 48}}), nullptr) << "all extents alike";
  const ShapeCase* own = find(*plan, {{"B", 4}, {"D", 32}});
  ASSERT_NE(own, nullptr);
  EXPECT_TRUE(own->demanded);
  const ShapeCase* benchmark = find(*plan, {{"B", 64}, {"D", 64}});
  ASSERT_NE(benchmark, nullptr);
  EXPECT_TRUE(benchmark->benchmark);
}

TEST(Shapes, KeepToRangesAndMultiples) {
  task::Task task = fake_task();
  task.dims["D"] = {16, 512, 16};
  task.dims["B"] = {2, 8, 1};
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan);
  for (const ShapeCase& shape : plan->cases) {
    if (shape.demanded) continue;
    EXPECT_EQ(shape.dims.at("D") % 16, 0);
    EXPECT_GE(shape.dims.at("D"), 16);
    EXPECT_LE(shape.dims.at("D"), 512);
    EXPECT_GE(shape.dims.at("B"), 2);
    EXPECT_LE(shape.dims.at("B"), 8);
  }
}

TEST(Shapes, EmptyOnlyWhereLegal) {
  task::Task task = fake_task();
  EXPECT_FALSE(extents_of(*plan_shapes(task, virtual_limits()), "B").count(0));
  task.dims["B"].low = 0;
  EXPECT_TRUE(extents_of(*plan_shapes(task, virtual_limits()), "B").count(0));
}

TEST(Shapes, LargeOnesAreCutForTheVirtualGpuOnly) {
  task::Task task = fake_task();
  task.benchmark_shapes = {{{"B", 1 << 20}, {"D", 1024}}};
  const auto cut = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(cut);
  EXPECT_EQ(find(*cut, task.benchmark_shapes[0]), nullptr);
  EXPECT_EQ(cut->demanded.back(), task.benchmark_shapes[0]) << "still asked of the module";
  bool kept_inner = false;
  for (const ShapeCase& shape : cut->cases) {
    kept_inner = kept_inner || (shape.benchmark && shape.dims.at("D") == 1024);
    EXPECT_LE(shape.work, virtual_limits().large_work);
  }
  EXPECT_TRUE(kept_inner) << "only the repeated dim is cut";
  const auto whole = plan_shapes(task, device_limits());
  ASSERT_TRUE(whole);
  EXPECT_NE(find(*whole, task.benchmark_shapes[0]), nullptr);
}

// Each row of blocks computes all scores again: with wide heads the virtual GPU takes minutes.
TEST(Shapes, WideProductsWithinOthersAreForRealGpus) {
  struct Nested : FakeReference {
    explicit Nested(bool softens) : softens_(softens) {}
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      graph::Builder b;
      graph::Shape shape;
      for (const char* name : {"N", "L", "D"})
        shape.push_back(graph::Dim::symbol(name, dims.at(name)));
      const graph::NodeId x = b.input("x", tensor::DType::Fp32, shape);
      const graph::NodeId turned = KW_TRY(b.permute(x, {0, 2, 1}));
      graph::NodeId scores = KW_TRY(b.matmul(x, turned));
      if (softens_) scores = KW_TRY(b.unary(graph::Op::Exp, scores));
      const graph::NodeId y = KW_TRY(b.matmul(scores, x));
      return std::move(b).finish({{"y", y}});
    }
    bool softens_;
  };
  task::Task task = fake_task();
  task.inputs[0].shape = {"N", "L", "D"};
  task.dims = {{"N", {}}, {"L", {}}, {"D", {}}};
  task.correctness_shapes = task.benchmark_shapes = {{{"N", 6}, {"L", 20}, {"D", 16}}};
  for (const bool softens : {false, true}) {
    task.reference = std::make_shared<Nested>(softens);
    const auto on_virtual = plan_shapes(task, virtual_limits());
    const auto on_real = plan_shapes(task, device_limits());
    ASSERT_TRUE(on_virtual && on_real);
    EXPECT_EQ(extents_of(*on_virtual, "D").count(4099), softens ? 0U : 1U);
    EXPECT_EQ(extents_of(*on_virtual, "D").count(1030), 1U);
    EXPECT_EQ(extents_of(*on_real, "D").count(4099), 1U);
  }
}

TEST(Shapes, WhatResultsLieAlongIsCutLast) {
  struct Turned : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      graph::Builder b;
      graph::Shape shape;
      for (const char* name : {"N", "S", "D"})
        shape.push_back(graph::Dim::symbol(name, dims.at(name)));
      const graph::NodeId x = b.input("x", tensor::DType::Fp32, shape);
      return std::move(b).finish({{"y", KW_TRY(b.permute(x, {0, 2, 1}))}});
    }
  };
  task::Task task = fake_task();
  task.inputs[0].shape = {"N", "S", "D"};
  task.dims = {{"N", {}}, {"S", {}}, {"D", {}}};
  task.correctness_shapes = {{{"N", 2}, {"S", 3}, {"D", 4}}};
  task.benchmark_shapes = {{{"N", 64}, {"S", 1024}, {"D", 128}}};
  task.reference = std::make_shared<Turned>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  const auto cut = std::ranges::find_if(plan->cases, &ShapeCase::benchmark);
  ASSERT_NE(cut, plan->cases.end());
  EXPECT_LT(cut->dims.at("N"), 64) << "only repeats the others";
  EXPECT_EQ(cut->dims.at("S"), 1024) << "the results' rows";
  EXPECT_EQ(cut->dims.at("D"), 128) << "the inputs' rows";
}

TEST(Shapes, DimsThatMustBeEqualAreCutTogether) {
  struct Square : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      if (dims.at("B") != dims.at("D")) return input_error("not square");
      return FakeReference::trace(dims);
    }
  };
  task::Task task = fake_task();
  task.correctness_shapes = {{{"B", 8}, {"D", 8}}};
  task.benchmark_shapes = {{{"B", 32768}, {"D", 32768}}};
  task.reference = std::make_shared<Square>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  const auto cut = std::ranges::find_if(plan->cases, &ShapeCase::benchmark);
  ASSERT_NE(cut, plan->cases.end());
  EXPECT_EQ(cut->dims.at("B"), cut->dims.at("D"));
  EXPECT_LT(cut->dims.at("B"), 32768);
}

TEST(Shapes, ProductsKeepATile) {
  struct Product : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      const auto dim = [&](const char* name) { return graph::Dim::symbol(name, dims.at(name)); };
      graph::Builder b;
      const graph::NodeId x = b.input("x", tensor::DType::Fp32, {dim("B"), dim("D")});
      const graph::NodeId w = b.input("w", tensor::DType::Fp32, {dim("D"), dim("K")});
      return std::move(b).finish({{"y", KW_TRY(b.matmul(x, w))}});
    }
  };
  task::Task task = fake_task();
  task.dims = {{"B", {}}, {"D", {}}, {"K", {}}};
  task.inputs[0].shape = {"B", "D"};
  task.inputs.push_back(task.inputs[0]);
  task.inputs[1].name = "w";
  task.inputs[1].shape = {"D", "K"};
  task.correctness_shapes = {{{"B", 8}, {"D", 8}, {"K", 8}}};
  task.benchmark_shapes = {{{"B", 4096}, {"D", 4096}, {"K", 4096}}};
  task.reference = std::make_shared<Product>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  const auto cut = std::ranges::find_if(plan->cases, &ShapeCase::benchmark);
  ASSERT_NE(cut, plan->cases.end());
  EXPECT_GE(cut->dims.at("B"), 128) << "rows of the product";
  EXPECT_GE(cut->dims.at("K"), 128) << "its columns";
}

TEST(Shapes, AShapeThatCannotBeCutIsLeftOut) {
  struct Whole : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      if (dims.at("B") > 8 && dims.at("B") != 32768) return input_error("only whole");
      return FakeReference::trace(dims);
    }
  };
  task::Task task = fake_task();
  task.dims["D"] = {32768, 32768, 1};
  task.correctness_shapes = {{{"B", 1}, {"D", 32768}}};
  task.benchmark_shapes = {{{"B", 32768}, {"D", 32768}}};
  task.reference = std::make_shared<Whole>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  for (const ShapeCase& shape : plan->cases) EXPECT_LE(shape.dims.at("B"), 8);
  EXPECT_FALSE(plan->left_out.empty());
}

TEST(Shapes, WhatTheReferenceRefusesIsListed) {
  struct EvenOnly : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      if (dims.at("D") % 2 != 0) return input_error("D must be even");
      return FakeReference::trace(dims);
    }
  };
  task::Task task = fake_task();
  task.reference = std::make_shared<EvenOnly>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan);
  EXPECT_FALSE(extents_of(*plan, "D").count(7));
  bool said = false;
  for (const std::string& line : plan->left_out)
    said = said || line.find("D=7: the reference refuses it: D must be even") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(Shapes, WhereTheOutputHasAnotherRankNothingIsAsked) {
  class Squeezed : public FakeReference {
   public:
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      graph::Graph graph = KW_TRY(FakeReference::trace(dims));
      if (dims.at("B") != 1) return graph;
      graph::Builder b;
      const graph::NodeId x = b.input("x", tensor::DType::Fp32, graph[graph.inputs[0].node].shape);
      const graph::NodeId y = KW_TRY(b.reshape(x, {graph::Dim::symbol("D", dims.at("D"))}));
      return std::move(b).finish({{"y", y}});
    }
  };
  task::Task task = fake_task();
  task.reference = std::make_shared<Squeezed>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(extents_of(*plan, "B").count(1), 0u);
  bool told = false;
  for (const std::string& line : plan->left_out)
    told = told || line.find("the rank or dtype") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(Shapes, OwnShapesAreVariedWhereMostAreRefused) {
  struct Heads : FakeReference {
    Result<graph::Graph> trace(const task::Dims& dims) const override {
      if (dims.at("D") != 32 || dims.at("B") % 2 != 0) return input_error("D must be 32, B even");
      return FakeReference::trace(dims);
    }
  };
  task::Task task = fake_task();
  task.benchmark_shapes = task.correctness_shapes;
  task.reference = std::make_shared<Heads>();
  const auto plan = plan_shapes(task, virtual_limits());
  ASSERT_TRUE(plan);
  EXPECT_NE(find(*plan, {{"B", 2}, {"D", 32}}), nullptr);
  EXPECT_NE(find(*plan, {{"B", 8}, {"D", 32}}), nullptr);
}

}  // namespace kw::shapes
