// Tests rows and columns of regions, and the parameters that schedules choose.

#include <gtest/gtest.h>

#include "emit/emit.h"
#include "emit/finalize.h"
#include "graph/builder.h"
#include "graph/compose_conv.h"
#include "matmul/matmul.h"
#include "plan/passes.h"
#include "scans/joining.h"
#include "scans/selection.h"

namespace kw::generate {

namespace {

/// A graph and the region of its whole.
struct Whole {
  Graph graph;
  Region region;

  Whole(graph::Builder builder, NodeId output) : graph(std::move(builder).finish({{"y", output}})) {
    region.graph = &graph;
    region.name = "kernel";
    for (const graph::NamedNode& input : graph.inputs)
      region.loads[input.node] = {input.name, graph[input.node].dtype, graph[input.node].shape};
    region.stores.push_back({output, {"y", graph[output].dtype, graph[output].shape}});
  }
};

Dim row_dim(const char* name, int64_t value) { return graph::Dim::symbol(name, value); }

TEST(RowLoop, JoinsWhatLiesSideBySide) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("A", 2), row_dim("B", 3), row_dim("C", 4)});
  const NodeId y = *b.scan(Op::CumSum, x, 2);
  const Whole whole(std::move(b), y);
  const RowLoop loop(whole.region, whole.graph[x].shape, 2, {x}, {});
  EXPECT_EQ(loop.rows().text(), "A * B");
  EXPECT_EQ(loop.length().text(), "C");
  EXPECT_FALSE(loop.rows_are_adjacent());
  EXPECT_EQ(loop.row_variables()[0], "row");
}

TEST(RowLoop, KeepsPartsApartAroundTheAxis) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("A", 2), row_dim("B", 3), row_dim("C", 4)});
  const NodeId y = *b.scan(Op::CumSum, x, 1);
  const Whole whole(std::move(b), y);
  const RowLoop loop(whole.region, whole.graph[x].shape, 1, {x}, {});
  EXPECT_TRUE(loop.rows_are_adjacent());
  CudaWriter w;
  Emitter e(whole.region);
  loop.write_row(e, w);
  EXPECT_EQ(w.text(), "const Index minor = row % C;\nconst Index major = row / C;\n");
}

TEST(ReducedLoop, TellsKeptFromReduced) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("N", 2), row_dim("C", 3), row_dim("H", 4)});
  const NodeId y = *b.reduce(Op::Sum, x, {0}, true);
  const Whole whole(std::move(b), y);
  const ReducedLoop loop(whole.region, whole.graph[x].shape, {0}, {x});
  EXPECT_EQ(loop.rows().text(), "C * H");
  EXPECT_EQ(loop.columns().text(), "N");
  EXPECT_EQ(loop.inner(), "row");
}

TEST(StoresFollow, OnlyElementByElement) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("B", 3), row_dim("B", 3)});
  const NodeId scan = *b.scan(Op::CumSum, x, 1);
  const NodeId doubled =
      *b.binary(Op::Add, graph::Operand::tensor(scan), graph::Operand::tensor(x));
  const NodeId turned = *b.permute(doubled, {1, 0});
  graph::Builder copy = b;
  const Whole straight(std::move(copy), doubled);
  EXPECT_TRUE(stores_follow(straight.region, {scan}, straight.graph[scan].shape));
  const Whole moved(std::move(b), turned);
  EXPECT_FALSE(stores_follow(moved.region, {scan}, moved.graph[scan].shape));
}

TEST(Joining, PlacesMakeAState) {
  const Joining best("k", DType::Fp32, Joining::Kind::Max, Joining::Places::First);
  EXPECT_EQ(best.type(), "k_best<Index>");
  EXPECT_EQ(best.value("s"), "s.value");
  std::set<std::string> functions;
  const std::string text = best.definitions(functions);
  EXPECT_NE(text.find("k_step("), std::string::npos);
  EXPECT_NE(text.find("__shfl_xor_sync"), std::string::npos);
  EXPECT_EQ(best.definitions(functions, Joining::Lanes::One).find("__shfl"), std::string::npos);
}

TEST(Joining, PlainStatesAreValues) {
  const Joining sum("k", DType::Int64, Joining::Kind::Sum, Joining::Places::None);
  EXPECT_EQ(sum.type(), "long long");
  EXPECT_EQ(sum.identity(), "0LL");
  EXPECT_EQ(sum.of("v", "p"), "v");
  const Joining least("k", DType::Uint8, Joining::Kind::Min, Joining::Places::None);
  EXPECT_EQ(least.identity(), "static_cast<unsigned char>(-1)");
  const Joining most("k", DType::Int8, Joining::Kind::Max, Joining::Places::None);
  std::set<std::string> functions;
  most.definitions(functions);
  EXPECT_EQ(functions, std::set<std::string>{"max_of"});
}

TEST(Products, SeeHowOperandsLie) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp16, {row_dim("M", 8), row_dim("K", 8)});
  const NodeId w = b.input("w", DType::Fp16, {row_dim("N", 8), row_dim("K", 8)});
  const NodeId y = *b.matmul(x, *b.permute(w, {1, 0}));
  const Whole whole(std::move(b), y);
  const auto product = product_of(whole.region, true);
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->operand(true).along_k);
  EXPECT_TRUE(product->operand(false).along_k);
  EXPECT_TRUE(product->operand(false).direct);
  EXPECT_EQ(product->k().text(), "K");
}

// Columns are images. Pixels are separate dims for reading windows, but not for storing results.
TEST(Products, TakeColumnsOfWindowsApart) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("N", 4), 3, 9, 9});
  const NodeId w = b.input("w", DType::Fp32, {8, 3, 3, 3});
  const NodeId y = *graph::conv(b, x, w, std::nullopt, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1});
  const Whole whole(std::move(b), y);
  const auto product = product_of(whole.region);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->n().text(), "81 * N");
  EXPECT_EQ(product->batches().value(), 1);
  EXPECT_TRUE(product->operand(true).direct);
  EXPECT_TRUE(product->operand(true).along_k);
  EXPECT_FALSE(product->operand(false).along_k);
  EXPECT_EQ(product->operand(false).side().axes.axes.size(), 3u);
  EXPECT_EQ(product->operand(false).k().axes.axes.size(), 3u);
  EXPECT_EQ(product->result().column.axes.axes.size(), 2u);
}

TEST(Selections, CountResultsPerRow) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp64, {row_dim("B", 3), row_dim("D", 9)});
  Node sort;
  sort.op = Op::SortValues;
  sort.inputs = {x};
  sort.dtype = DType::Fp64;
  sort.shape = b[x].shape;
  sort.attrs.dims = {1};
  const NodeId sorted = *b.add(sort);
  const NodeId third = *b.slice(sorted, 1, Dim(2), Dim(3));
  const Whole whole(std::move(b), third);
  const auto selection = selection_of(whole.region);
  ASSERT_TRUE(selection);
  EXPECT_TRUE(selection->stable);
  EXPECT_TRUE(has_wide_keys(whole.region, *selection));
  EXPECT_EQ(results_per_row(whole.region, *selection, whole.region.stores[0])->text(), "1");
}

TEST(TopOne, IsAReduction) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("B", 3), row_dim("D", 9)});
  Node top;
  top.op = Op::TopKIndices;
  top.inputs = {x};
  top.dtype = DType::Int64;
  top.shape = {b[x].shape[0], Dim(1)};
  top.attrs.dims = {1};
  top.attrs.descending = true;
  const NodeId best = *b.add(top);
  const Graph after = top_one(std::move(b).finish({{"y", best}}));
  EXPECT_EQ(after[after.outputs[0].node].op, Op::ArgMax);
}

TEST(TurnScan, DropsBothFlips) {
  graph::Builder b;
  const NodeId x = b.input("x", DType::Fp32, {row_dim("B", 3), row_dim("D", 9)});
  const auto flip = [&](NodeId of) {
    Node node;
    node.op = Op::Flip;
    node.inputs = {of};
    node.dtype = b[of].dtype;
    node.shape = b[of].shape;
    node.attrs.dims = {1};
    return *b.add(node);
  };
  const NodeId turned = flip(*b.scan(Op::CumSum, flip(x), 1));
  const Graph after = turn_scan(std::move(b).finish({{"y", turned}}));
  const Node& scan = after[after.outputs[0].node];
  EXPECT_EQ(scan.op, Op::CumSum);
  EXPECT_TRUE(scan.attrs.reverse);
  EXPECT_EQ(after[scan.inputs[0]].op, Op::Input);
}

TEST(Settle, LeavesOneChoiceBesideOthers) {
  Kernel kernel;
  kernel.tunes = {{"VEC", {8, 4, 1}, ""}, {"UNROLL", {4, 2, 1}, ""}};
  kernel.methods = {{"memory.vectorized_access", "VEC > 1", "VEC=1"},
                    {"compute.ilp_unroll_register_tile", "UNROLL > 1", "UNROLL=1"}};
  TargetContext context;
  Kernel alone = kernel;
  finalize(alone, context);
  EXPECT_EQ(alone.tunes[1].values.size(), 3u);
  context.alone = false;
  finalize(kernel, context);
  EXPECT_EQ(kernel.tunes[0].values, (std::vector<int64_t>{8, 1}));
  EXPECT_EQ(kernel.tunes[1].values, (std::vector<int64_t>{4}));
  EXPECT_EQ(kernel.methods[0].off, "VEC=1");
  EXPECT_EQ(kernel.methods[1].off, "");
}

}  // namespace
}  // namespace kw::generate
