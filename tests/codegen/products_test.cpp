// Products whose last wave is split along k give the interpreter's truth, whatever the number of
// multiprocessors leaves over: all tiles whole, all of them shared, or some of both.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "graph/builder.h"
#include "graph/compose_conv.h"
#include "harness.h"
#include "window_graphs.h"

namespace kw::codegen_tests {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

enum class Turned : uint8_t { None, Left, Right, Both };

struct SplitCase {
  const char* name;
  const char* schedule;
  DType dtype;
  int64_t batches, m, n, k;
  Turned turned = Turned::None;
};

const SplitCase kSplitCases[] = {
    {"square", "matmul_split", DType::Fp32, 1, 192, 192, 256},
    {"ragged", "matmul_split", DType::Fp32, 1, 201, 131, 261},
    {"turned_left", "matmul_split", DType::Fp32, 1, 132, 196, 260, Turned::Left},
    {"turned_right", "matmul_split", DType::Fp32, 1, 130, 67, 1001, Turned::Right},
    {"turned_both", "matmul_split", DType::Fp32, 1, 68, 140, 300, Turned::Both},
    {"batches", "matmul_split", DType::Fp32, 5, 70, 33, 290},
    {"one_row", "matmul_split", DType::Fp32, 1, 1, 300, 700},
    {"one_column", "matmul_split", DType::Fp32, 1, 300, 1, 700, Turned::Right},
    {"double", "matmul_split", DType::Fp64, 1, 70, 130, 300},
    {"half", "matmul_wmma_split", DType::Fp16, 1, 192, 128, 512},
    {"half_ragged", "matmul_wmma_split", DType::Fp16, 1, 131, 201, 517},
    {"half_turned", "matmul_wmma_split", DType::Bf16, 1, 136, 72, 520, Turned::Both},
    {"half_batches", "matmul_wmma_split", DType::Fp16, 3, 66, 130, 333, Turned::Right},
};

NodeId made(Result<NodeId> node) {
  KW_CHECK(node.has_value(), node ? "" : node.error().message);
  return *node;
}

/// relu(a b + bias), an operand lying across memory where it is turned.
graph::Graph product_graph(const SplitCase& one) {
  graph::Builder b;
  const auto operand = [&](const char* name, int64_t rows, int64_t columns, bool turned) {
    const NodeId x = turned ? b.input(name, one.dtype, {one.batches, columns, rows})
                            : b.input(name, one.dtype, {one.batches, rows, columns});
    return turned ? made(b.permute(x, {0, 2, 1})) : x;
  };
  const bool both = one.turned == Turned::Both;
  const NodeId left = operand("a", one.m, one.k, both || one.turned == Turned::Left);
  const NodeId right = operand("b", one.k, one.n, both || one.turned == Turned::Right);
  const NodeId bias = b.input("bias", one.dtype, {one.n});
  const NodeId sum =
      made(b.binary(Op::Add, Operand::tensor(made(b.matmul(left, right))), Operand::tensor(bias)));
  const NodeId y = made(b.binary(Op::Maximum, Operand::tensor(sum), Operand::of(0.0)));
  return std::move(b).finish({{"y", y}});
}

class SplitProducts : public testing::TestWithParam<SplitCase> {};

/// Judges the graph's one kernel in this schedule, as if on devices of several sizes.
void expect_truth(const graph::Graph& graph, const std::string& schedule,
                  const std::vector<Setting>& settings = {{1, {}}, {5, {}}, {132, {}}}) {
  Harness& harness = Harness::get();
  const task::Task task = task_of(graph);
  const auto designs = generate::designs(task, harness.options());
  ASSERT_TRUE(designs) << designs.error().message;
  const auto inputs = inputs_for(graph, 5);
  bool offered = false;
  for (const generate::Design& design : *designs) {
    if (design.choices.size() != 1 || design.choices[0].schedule != schedule) continue;
    offered = true;
    const auto text = generate::generate(task, design, harness.options());
    ASSERT_TRUE(text) << text.error().message;
    for (const Setting& setting : settings) {
      EXPECT_EQ(harness.judge(*text, graph, inputs, {}, setting), "") << setting.sms << *text;
    }
  }
  EXPECT_TRUE(offered) << schedule + " is not offered";
}

TEST_P(SplitProducts, GiveTheTruth) {
  if (!Harness::get().problem().empty()) GTEST_SKIP() << Harness::get().problem();
  expect_truth(product_graph(GetParam()), GetParam().schedule);
}

TEST(SplitTiles, GiveTheTruthInEverySize) {
  if (!Harness::get().problem().empty()) GTEST_SKIP() << Harness::get().problem();
  const graph::Graph graph = product_graph({"", "", DType::Fp32, 1, 260, 300, 264, Turned::Right});
  const auto tile = [](int64_t m, int64_t n, int64_t k, int64_t across) {
    return Setting{1, {{"TILE_M", m}, {"TILE_N", n}, {"TILE_K", k}, {"ACROSS", across}}};
  };
  const std::vector<Setting> settings = {tile(128, 128, 8, 16), tile(128, 128, 16, 8),
                                         tile(128, 64, 8, 16), tile(64, 128, 16, 16),
                                         tile(64, 128, 8, 8)};
  expect_truth(graph, "matmul_split", settings);
  expect_truth(graph, "matmul", {settings[0], settings[2]});
}

TEST(SplitConvolutions, GiveTheTruth) {
  if (!Harness::get().problem().empty()) GTEST_SKIP() << Harness::get().problem();
  for (const DType dtype : {DType::Fp32, DType::Fp16}) {
    graph::Builder b;
    const NodeId x = b.input("x", dtype, {3, 40, 7, 9});
    const NodeId w = b.input("w", dtype, {70, 40, 3, 3});
    const NodeId y = made(graph::conv(b, x, w, std::nullopt, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}));
    const graph::Graph graph = std::move(b).finish({{"y", y}});
    expect_truth(graph, dtype == DType::Fp32 ? "matmul_split" : "matmul_wmma_split");
  }
}

// sigmoid(x a) * (x b) is what the second product makes of its result, not what the third makes of
// its operand, once per tile: all operands are loaded as they lie.
TEST(Products, ComputeWhatLiesBetweenThemOnce) {
  Harness& harness = Harness::get();
  if (!harness.problem().empty()) GTEST_SKIP() << harness.problem();
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {36, 64});
  const auto weight = [&](const char* name) { return b.input(name, DType::Fp32, {64, 64}); };
  const NodeId gate = made(b.unary(Op::Sigmoid, made(b.matmul(x, weight("a")))));
  const NodeId up = made(b.matmul(x, weight("b")));
  const NodeId hidden = made(b.binary(Op::Mul, Operand::tensor(gate), Operand::tensor(up)));
  const NodeId y = made(b.matmul(hidden, weight("c")));
  const graph::Graph graph = std::move(b).finish({{"y", y}});
  const task::Task task = task_of(graph);
  const auto designs = generate::designs(task, harness.options());
  ASSERT_TRUE(designs) << designs.error().message;
  EXPECT_EQ(generate::design_text(designs->front()), "graph=matmul graph_2=matmul graph_3=matmul");
  const auto text = generate::generate(task, designs->front(), harness.options());
  ASSERT_TRUE(text) << text.error().message;
  for (const char* kernel : {"graph<int, 4, 4>", "graph_2<int, 4, 4>", "graph_3<int, 4, 4>"}) {
    EXPECT_NE(text->find(kernel), std::string::npos) << kernel << *text;
  }
  EXPECT_EQ(harness.judge(*text, graph, inputs_for(graph, 5)), "") << *text;
}

INSTANTIATE_TEST_SUITE_P(All, SplitProducts, testing::ValuesIn(kSplitCases),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace kw::codegen_tests
