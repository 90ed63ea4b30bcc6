#include "gate/shapes.h"

#include <gtest/gtest.h>

#include <set>

#include "gate/fakes.h"
#include "gate/families.h"
#include "gate/pool.h"

namespace kw::gate {

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
    told = told || line.find("another rank") != std::string::npos;
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

TEST(Families, OffsetHasALargeMean) {
  const task::Task task = fake_task();
  const graph::Graph graph = *task.reference->trace({{"B", 64}, {"D", 256}});
  const auto drawn = draw_inputs(task, graph, {{"B", 64}, {"D", 256}}, "offset", 11);
  ASSERT_TRUE(drawn);
  std::vector<double> values(64 * 256);
  tensor::load_values((*drawn)[0], 0, values);
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  EXPECT_GE(std::abs(mean) / deviation, 2000);
}

TEST(Families, ProbeHasOneElementThatDwarfsTheRest) {
  const task::Task task = fake_task();
  const graph::Graph graph = *task.reference->trace({{"B", 8}, {"D", 64}});
  std::set<int64_t> places;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto drawn = draw_inputs(task, graph, {{"B", 8}, {"D", 64}}, "probe", seed);
    ASSERT_TRUE(drawn);
    int large = 0;
    for (int64_t i = 0; i < 512; ++i) {
      if (std::abs(tensor::get_element((*drawn)[0], i)) < 100) continue;
      ++large;
      places.insert(i);
    }
    EXPECT_EQ(large, 1);
  }
  EXPECT_GT(places.size(), 5U) << "at places that cannot be guessed";
}

TEST(Families, LegalValuesStayLegal) {
  task::Task task = fake_task();
  task.inputs[0].legal.positive = true;
  const task::Dims dims = {{"B", 16}, {"D", 64}};
  const graph::Graph graph = *task.reference->trace(dims);
  for (const std::string& family : families_for(task)) {
    const auto drawn = draw_inputs(task, graph, dims, family, 3);
    ASSERT_TRUE(drawn);
    for (int64_t i = 0; i < 1024; ++i) ASSERT_GT(tensor::get_element((*drawn)[0], i), 0) << family;
  }
  task.inputs[0].legal = {};
  task.inputs[0].legal.float_low = -0.5;
  task.inputs[0].legal.float_high = 0.5;
  for (const std::string& family : families_for(task)) {
    const auto drawn = draw_inputs(task, graph, dims, family, 3);
    for (int64_t i = 0; i < 1024; ++i)
      ASSERT_LE(std::abs(tensor::get_element((*drawn)[0], i)), 0.5) << family;
  }
  EXPECT_FALSE(draw_inputs(task, graph, dims, "norml", 3));
}

TEST(Families, SpecialValuesOnlyWhereTheyPropagate) {
  task::Task task = fake_task();
  const auto has = [&](const std::string& name) {
    const auto names = families_for(task);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_FALSE(has("special"));
  EXPECT_TRUE(has("denormal"));
  task.precision.nan = task::NanPolicy::Propagate;
  task.precision.flush = true;
  EXPECT_TRUE(has("special"));
  EXPECT_FALSE(has("denormal"));
  task.inputs[0].dtype = tensor::DType::Int64;
  EXPECT_FALSE(has("offset"));
  EXPECT_FALSE(has("special"));
}

TEST(Pool, SaysWhereARangeOfIndicesIsStated) {
  class Strict : public FakeOracle {
   public:
    Result<std::vector<ports::Truth>> truth(const graph::Graph&,
                                            const std::vector<tensor::HostTensor>&,
                                            const ports::TruthOptions&) override {
      return input_error("index 17 is out of bounds for dimension 1 with size 7");
    }
  };
  const task::Task task = fake_task();
  Strict oracle;
  auto pool = Pool::make(task, oracle, plan_shapes(task, virtual_limits()).value(), {},
                         [] { return Result<uint64_t>(1); });
  ASSERT_TRUE(pool);
  const Result<SetPtr> set = pool->set(0);
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().message.find("hint: say which integers"), std::string::npos);
}

TEST(Pool, KeepsSetsWithinItsBudgetAndMakesTheRestAgain) {
  const task::Task task = fake_task();
  FakeOracle oracle;
  uint64_t drawn = 0;
  const Entropy entropy = [&]() -> Result<uint64_t> { return ++drawn; };
  PoolOptions options;
  auto kept = Pool::make(task, oracle, *plan_shapes(task, virtual_limits()), options, entropy);
  ASSERT_TRUE(kept);
  ASSERT_TRUE(kept->prepare());
  const int made = oracle.truths;
  const auto of_candidates =
      std::ranges::count(kept->cells(), kImmediatesFamily, &PoolCell::family);
  EXPECT_EQ(of_candidates, 2);
  EXPECT_EQ(made, static_cast<int>(kept->cells().size() - 2)) << "but those of candidates";
  EXPECT_EQ(*kept->set(3), *kept->set(3)) << "the same set";
  EXPECT_EQ(oracle.truths, made);
  const uint64_t before = kept->cells()[3].seed;
  ASSERT_TRUE(kept->renew(3, entropy));
  EXPECT_NE(kept->cells()[3].seed, before);
  ASSERT_TRUE(kept->set(3));
  EXPECT_EQ(oracle.truths, made + 1);

  options.max_bytes = 0;
  auto tight = Pool::make(task, oracle, *plan_shapes(task, virtual_limits()), options, entropy);
  ASSERT_TRUE(tight->set(0));
  const int again = oracle.truths;
  ASSERT_TRUE(tight->set(0));
  EXPECT_EQ(oracle.truths, again + 1);
}

TEST(Pool, ASeedReplaysAndEntropyDoesNot) {
  const task::Task task = fake_task();
  FakeOracle oracle;
  uint64_t drawn = 0;
  const Entropy entropy = [&]() -> Result<uint64_t> { return ++drawn; };
  PoolOptions options;
  options.seed = 5;
  const auto seeds = [&] {
    std::vector<uint64_t> list;
    auto pool = Pool::make(task, oracle, *plan_shapes(task, virtual_limits()), options, entropy);
    for (const PoolCell& cell : pool->cells()) list.push_back(cell.seed);
    return list;
  };
  EXPECT_EQ(seeds(), seeds());
  const auto replayed = seeds();
  EXPECT_EQ(std::set<uint64_t>(replayed.begin(), replayed.end()).size(), replayed.size());
  options.seed.reset();
  EXPECT_NE(seeds(), seeds());
}

}  // namespace kw::gate
