#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "cases.h"
#include "compile/compile_worker.h"
#include "compile/select.h"
#include "truth/random_graph.h"
#include "truth_gpu/gpu_oracle.h"
#include "vgpu/virtual_gpu.h"

namespace kw::truth_tests {
namespace {

using ports::Truth;
using tensor::DType;
using tensor::Family;
using truth_gpu::GpuOracle;

// One compiler for all: its caches are worth keeping.
ports::Compiler* compiler() {
  static const auto opened = compile::select_compiler();
  return opened ? opened->get() : nullptr;
}

Result<std::unique_ptr<ports::Device>> open_virtual() {
  return std::unique_ptr<ports::Device>(KW_TRY(vgpu::VirtualGpu::open("sm_90")));
}

GpuOracle everything_on_device() { return GpuOracle(*compiler(), open_virtual, {0, 60}); }

/// The interpreter computes what overflow may give.
bool leaves_range(const GpuOracle& oracle) {
  return oracle.made_by().find("leaves the range") != std::string::npos;
}

struct Row {
  size_t which;
  DType dtype;
};

class GpuOracleTest : public testing::TestWithParam<Row> {
  void SetUp() override {
    if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  }
};

constexpr Family kFamilies[] = {Family::Normal, Family::Heavy,    Family::Spikes, Family::Offset,
                                Family::Sorted, Family::Denormal, Family::Zeros,  Family::Special};

TEST_P(GpuOracleTest, SaysWhatTheInterpreterSays) {
  const Case& c = cases()[GetParam().which];
  GpuOracle oracle = everything_on_device();
  size_t near = 0;
  for (const Family family : kFamilies) {
    const Made made = make(c, GetParam().dtype, family, 37, 75);
    const auto want = truth::Interpreter().truth(made.graph, made.inputs, {});
    const auto got = oracle.truth(made.graph, made.inputs, {});
    ASSERT_TRUE(want && got) << (got ? "" : got.error().message);
    EXPECT_EQ(difference((*want)[0], (*got)[0]), "") << tensor::family_name(family);
    near += (*got)[0].jump.size();
    if (family == Family::Normal && c.place != Case::Place::Either) {
      const bool there = oracle.made_by().rfind("1 on", 0) == 0;
      EXPECT_EQ(there, c.place == Case::Place::Device && !leaves_range(oracle)) << oracle.made_by();
    }
  }
  EXPECT_TRUE(near > 0 || !c.jumps) << "nothing lies near a discontinuity";
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (size_t which = 0; which < cases().size(); ++which)
    for (const DType dtype : {DType::Fp16, DType::Bf16, DType::Fp32})
      rows.push_back({which, dtype});
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, GpuOracleTest, testing::ValuesIn(rows()), [](const auto& row) {
  return std::string(cases()[row.param.which].name) + "_" + tensor::dtype_name(row.param.dtype);
});

// Reductions of one result, of rows shorter than a warp, and split into parts.
TEST(GpuOracleShapes, HoldForReductionsOfEveryShape) {
  if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  for (const char* name : {"whole_sum", "row_sum", "column_sum", "row_max", "column_min"}) {
    const auto found =
        std::ranges::find_if(cases(), [&](const Case& c) { return std::string(c.name) == name; });
    for (const auto& [rows, columns] :
         {std::pair{1, 5000}, {3000, 3}, {5000, 1}, {1, 1}, {2, 20000}}) {
      GpuOracle oracle = everything_on_device();
      const Made made = make(*found, DType::Fp16, Family::Heavy, rows, columns);
      const auto want = truth::Interpreter().truth(made.graph, made.inputs, {});
      const auto got = oracle.truth(made.graph, made.inputs, {});
      ASSERT_TRUE(want && got);
      EXPECT_EQ(difference((*want)[0], (*got)[0]), "") << name << " " << rows << "x" << columns;
      EXPECT_TRUE(leaves_range(oracle) || oracle.made_by().rfind("1 on virtual", 0) == 0)
          << oracle.made_by();
    }
  }
}

uint32_t graphs_to_draw() {
  const char* wanted = std::getenv("KW_RANDOM_GRAPHS");
  return wanted == nullptr ? 60 : static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10));
}

class GpuOracleRandom : public testing::TestWithParam<truth::RandomGraph::Mix> {};

TEST_P(GpuOracleRandom, GraphsSayWhatTheInterpreterSays) {
  if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  int on_device = 0;
  for (uint32_t seed = 0; seed < graphs_to_draw() && !HasFailure(); ++seed) {
    truth::RandomGraph random(seed, GetParam());
    const graph::Graph graph = random.graph().finish(random.outputs());
    GpuOracle oracle = everything_on_device();
    const auto want = truth::Interpreter().truth(graph, random.graph().inputs(), {});
    const auto got = oracle.truth(graph, random.graph().inputs(), {});
    ASSERT_EQ(want.has_value(), got.has_value());
    if (!want) continue;
    for (size_t k = 0; k < want->size(); ++k)
      EXPECT_EQ(difference((*want)[k], (*got)[k]), "")
          << "seed " << seed << ", " << oracle.made_by() << "\n"
          << graph::print(graph);
    on_device += oracle.made_by().rfind("1 on", 0) == 0 ? 1 : 0;
  }
  EXPECT_GT(on_device, static_cast<int>(graphs_to_draw() / 8));
}

INSTANTIATE_TEST_SUITE_P(Mixes, GpuOracleRandom,
                         testing::Values(truth::RandomGraph::Mix::Plain,
                                         truth::RandomGraph::Mix::Sliding),
                         [](const auto& mix) {
                           return mix.param == truth::RandomGraph::Mix::Plain ? "Plain" : "Sliding";
                         });

TEST(GpuOracle, LeavesSmallTruthsAndLostDevicesToTheCpu) {
  if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  const Made made = make(cases()[0], DType::Fp32, Family::Normal, 4, 8);
  GpuOracle small(*compiler(), open_virtual, {64, 60});
  ASSERT_TRUE(small.truth(made.graph, made.inputs, {}));
  EXPECT_EQ(small.made_by(), "CPU");
  int opened = 0;
  const auto nothing = [&opened]() -> Result<std::unique_ptr<ports::Device>> {
    ++opened;
    return environment_error("no GPU at all");
  };
  GpuOracle lost(*compiler(), nothing, {0, 60});
  for (int k = 0; k < 2; ++k) ASSERT_TRUE(lost.truth(made.graph, made.inputs, {}));
  EXPECT_EQ(opened, 1);
  EXPECT_NE(lost.made_by().find("no GPU at all"), std::string::npos) << lost.made_by();
}

// What is wrong with the inputs is said in the interpreter's words.
TEST(GpuOracle, LeavesMistakesToTheInterpreter) {
  if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  for (const bool divides : {false, true}) {
    truth::TestGraph g;
    const auto x = g.input(truth::integers(DType::Int64, {3}, {5, -7, 9}));
    const auto z = g.input(truth::integers(DType::Int64, {3}, {2, 0, 3}));
    const auto y = divides ? g.binary(graph::Op::FloorDiv, x, z)
                           : g.add(graph::Op::Gather, {x, z}, truth::along(0));
    const graph::Graph graph = g.finish({y});
    GpuOracle oracle = everything_on_device();
    const auto want = truth::Interpreter().truth(graph, g.inputs(), {});
    const auto got = oracle.truth(graph, g.inputs(), {});
    ASSERT_FALSE(want || got);
    EXPECT_EQ(want.error().message, got.error().message);
    EXPECT_NE(oracle.made_by().find("points nowhere"), std::string::npos) << oracle.made_by();
  }
}

// Few elements may take many operations.
TEST(GpuOracle, CountsWhatLiesBetweenInputsAndOutputs) {
  const auto work = [](auto build) {
    const Made made = make({"", build}, DType::Fp32, Family::Normal, 8, 64);
    return truth_gpu::work_of_truth(made.graph);
  };
  EXPECT_EQ(work(+[](truth::TestGraph&, graph::NodeId x, graph::NodeId) { return x; }), 0);
  EXPECT_EQ(work(+[](truth::TestGraph& g, graph::NodeId x, graph::NodeId) {
              return g.reduce(graph::Op::Sum, g.unary(graph::Op::Exp, x), {1});
            }),
            2 * 8 * 64);
  EXPECT_EQ(work(+[](truth::TestGraph& g, graph::NodeId x, graph::NodeId) {
              return g.got(g.builder.matmul(x, g.got(g.builder.permute(x, {1, 0}))));
            }),
            8 * 64 + 8 * 8 * 64 / 16);
}

TEST(GpuOracle, MakesTruthsOfManyOperationsOnTheDevice) {
  if (compiler() == nullptr) GTEST_SKIP() << "no compiler for device code here";
  const auto found =
      std::ranges::find_if(cases(), [](const Case& c) { return std::string(c.name) == "product"; });
  const Made made = make(*found, DType::Fp32, Family::Normal, 4, 8);
  const double work = truth_gpu::work_of_truth(made.graph);
  for (const bool large : {false, true}) {
    GpuOracle oracle(*compiler(), open_virtual, {1 << 20, 60, large ? work : work + 1});
    ASSERT_TRUE(oracle.truth(made.graph, made.inputs, {}));
    EXPECT_EQ(oracle.made_by() == "CPU", !large) << oracle.made_by();
  }
}

}  // namespace
}  // namespace kw::truth_tests

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-compile") == 0)
    return kw::compile::compile_worker_main();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
