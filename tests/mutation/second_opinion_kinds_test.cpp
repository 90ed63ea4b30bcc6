// The second opinion on whole tensors: movements, reductions, scans, selections, products and
// sources, against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "second_opinion.h"
#include "truth/test_graph.h"

namespace kw::mutation {
namespace {

using graph::Attrs;
using graph::NodeId;
using graph::Op;
using graph::ScatterMode;
using graph::Shape;
using tensor::DType;
using truth::along;
using truth::TestGraph;

using Values = std::vector<long double>;

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

tensor::HostTensor fp32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return truth::floats(DType::Fp32, std::move(shape), values);
}
tensor::HostTensor int64s(std::vector<int64_t> shape, const std::vector<int64_t>& values) {
  return truth::integers(DType::Int64, std::move(shape), values);
}

/// The values of one op on these operands.
Values result(Op op, const std::vector<tensor::HostTensor>& operands, Attrs attrs,
              Shape shape = {}) {
  TestGraph g;
  std::vector<NodeId> in;
  for (const tensor::HostTensor& one : operands) in.push_back(g.input(one));
  const NodeId y = g.add(op, in, std::move(attrs), std::move(shape));
  const auto got = second_opinion(g.finish({y}), g.inputs());
  if (!got) ADD_FAILURE() << got.error().message;
  return got ? (*got)[0].value : Values{};
}

Attrs over(std::vector<int> dims) {
  Attrs attrs;
  attrs.dims = std::move(dims);
  return attrs;
}
Attrs walk(bool reverse, bool exclusive) {
  Attrs attrs = along(0);
  attrs.reverse = reverse;
  attrs.exclusive = exclusive;
  return attrs;
}
Attrs order(bool descending) {
  Attrs attrs = along(0);
  attrs.descending = descending;
  return attrs;
}
Attrs strided(int dim, int64_t stride, int64_t dilation) {
  Attrs attrs = along(dim);
  attrs.steps = {stride, dilation};
  return attrs;
}

const tensor::HostTensor& grid() {  // 0 1 2 / 3 4 5
  static const tensor::HostTensor kGrid = fp32({2, 3}, {0, 1, 2, 3, 4, 5});
  return kGrid;
}

TEST(SecondOpinion, Movements) {
  EXPECT_EQ(result(Op::Reshape, {grid()}, {}, {3, 2}), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(result(Op::Permute, {grid()}, over({1, 0})), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(result(Op::Expand, {fp32({2, 1}, {7, 8})}, {}, {2, 2, 2}),
            (Values{7, 7, 8, 8, 7, 7, 8, 8}));
  EXPECT_EQ(result(Op::Flip, {grid()}, over({1})), (Values{2, 1, 0, 5, 4, 3}));
  Attrs cut;
  cut.starts = {1, 0};
  cut.steps = {1, 2};
  EXPECT_EQ(result(Op::Slice, {grid()}, cut, {1, 2}), (Values{3, 5}));
  Attrs front;
  front.starts = {1, 0};
  front.number = 9;
  EXPECT_EQ(result(Op::Pad, {grid()}, front, {3, 4}), (Values{9, 9, 9, 9, 0, 1, 2, 9, 3, 4, 5, 9}));
  EXPECT_EQ(result(Op::Concat, {grid(), fp32({2, 1}, {7, 8})}, along(1)),
            (Values{0, 1, 2, 7, 3, 4, 5, 8}));
  EXPECT_EQ(result(Op::Window, {fp32({6}, {0, 1, 2, 3, 4, 5})}, strided(0, 3, 2), {2, 2}),
            (Values{0, 2, 3, 5}));
  EXPECT_EQ(result(Op::Window, {grid()}, strided(1, 1, 1), {2, 2, 2}),
            (Values{0, 1, 1, 2, 3, 4, 4, 5}));
}

TEST(SecondOpinion, IndexedMovements) {
  EXPECT_EQ(result(Op::Gather, {grid(), int64s({2, 2}, {2, 0, 1, 1})}, along(1)),
            (Values{2, 0, 4, 4}));
  EXPECT_EQ(result(Op::IndexSelect, {grid(), int64s({3}, {1, 0, 1})}, along(0)),
            (Values{3, 4, 5, 0, 1, 2, 3, 4, 5}));
  const auto scattered = [](ScatterMode mode) {
    Attrs attrs = along(1);
    attrs.scatter = mode;
    return result(Op::Scatter, {grid(), int64s({1, 3}, {1, 1, 0}), fp32({1, 3}, {10, 20, -30})},
                  attrs);
  };
  EXPECT_EQ(scattered(ScatterMode::Set), (Values{-30, 20, 2, 3, 4, 5}));
  EXPECT_EQ(scattered(ScatterMode::Add), (Values{-30, 31, 2, 3, 4, 5}));
  EXPECT_EQ(scattered(ScatterMode::Multiply), (Values{0, 200, 2, 3, 4, 5}));
  EXPECT_EQ(scattered(ScatterMode::Max), (Values{0, 20, 2, 3, 4, 5}));
  EXPECT_EQ(scattered(ScatterMode::Min), (Values{-30, 1, 2, 3, 4, 5}));
}

TEST(SecondOpinion, FoldIsTheWayBackFromWindows) {
  const tensor::HostTensor windows = fp32({2, 3}, {1, 2, 4, 8, 16, 32});
  EXPECT_EQ(result(Op::Fold, {windows}, strided(0, 1, 1), {4}), (Values{1, 10, 20, 32}));
  EXPECT_EQ(result(Op::Fold, {windows}, strided(0, 1, 2), {6}), (Values{1, 8, 2, 16, 4, 32}));
  // Two rows of one window each, along the first dim.
  EXPECT_EQ(result(Op::Fold, {fp32({1, 2, 2}, {1, 2, 3, 4})}, strided(0, 1, 1), {2, 2}),
            (Values{1, 3, 2, 4}));
}

TEST(SecondOpinion, Reductions) {
  EXPECT_EQ(result(Op::Sum, {grid()}, over({0})), (Values{3, 5, 7}));
  EXPECT_EQ(result(Op::Sum, {grid()}, over({0, 1})), (Values{15}));
  EXPECT_EQ(result(Op::Prod, {grid()}, over({1})), (Values{0, 60}));
  EXPECT_EQ(result(Op::Max, {grid()}, over({1})), (Values{2, 5}));
  EXPECT_EQ(result(Op::Min, {grid()}, over({0, 1})), (Values{0}));
  EXPECT_EQ(result(Op::Sum, {fp32({2, 0}, {})}, over({1})), (Values{0, 0}));
  EXPECT_EQ(result(Op::Prod, {fp32({0}, {})}, over({0})), (Values{1}));
  EXPECT_EQ(result(Op::Sum, {truth::integers(DType::Int8, {2}, {100, 100})}, over({0})),
            (Values{-56}));
  EXPECT_TRUE(std::isnan(result(Op::Max, {fp32({3}, {1, kNone, 2})}, over({0}))[0]));
  EXPECT_TRUE(std::isnan(result(Op::Sum, {fp32({2}, {kEndless, -kEndless})}, over({0}))[0]));
}

TEST(SecondOpinion, IndicesAreOfTheFirstOfEquals) {
  EXPECT_EQ(result(Op::ArgMax, {fp32({2, 3}, {1, 7, 7, 5, 5, 0})}, over({1})), (Values{1, 0}));
  EXPECT_EQ(result(Op::ArgMin, {fp32({2, 3}, {1, 7, 7, 5, 5, 0})}, over({0})), (Values{0, 1, 1}));
  EXPECT_EQ(result(Op::ArgMin, {fp32({4}, {1, kNone, 0, kNone})}, over({0})), (Values{1}));
  // These differ only in the last bit of an int64.
  EXPECT_EQ(result(Op::ArgMax, {int64s({2}, {INT64_MAX - 1, INT64_MAX})}, over({0})), (Values{1}));
}

TEST(SecondOpinion, Scans) {
  const tensor::HostTensor x = fp32({4}, {1, 3, 3, 2});
  EXPECT_EQ(result(Op::CumSum, {x}, walk(false, false)), (Values{1, 4, 7, 9}));
  EXPECT_EQ(result(Op::CumSum, {x}, walk(true, false)), (Values{9, 8, 5, 2}));
  EXPECT_EQ(result(Op::CumSum, {x}, walk(false, true)), (Values{0, 1, 4, 7}));
  EXPECT_EQ(result(Op::CumProd, {x}, walk(true, true)), (Values{18, 6, 2, 1}));
  EXPECT_EQ(result(Op::CumMax, {x}, walk(false, false)), (Values{1, 3, 3, 3}));
  EXPECT_EQ(result(Op::CumMaxIndex, {x}, walk(false, false)), (Values{0, 1, 2, 2}));
  EXPECT_EQ(result(Op::CumMin, {x}, walk(true, false)), (Values{1, 2, 2, 2}));
  EXPECT_EQ(result(Op::CumMinIndex, {x}, walk(false, false)), (Values{0, 0, 0, 0}));
  EXPECT_EQ(result(Op::CumSum, {grid()}, along(0)), (Values{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(result(Op::CumMaxIndex, {fp32({4}, {kNone, 1, kNone, 9})}, along(0)),
            (Values{0, 0, 2, 2}));
}

TEST(SecondOpinion, LogarithmsOfRunningSums) {
  const long double log2 = 0.6931471805599453094172321L;
  const Values y =
      result(Op::CumLogSumExp, {fp32({5}, {-kEndless, 1000, 1000, 0, kEndless})}, along(0));
  EXPECT_EQ(y[0], -kEndless);
  EXPECT_EQ(y[1], 1000);
  EXPECT_LE(std::fabs(y[2] - (1000 + log2)), 1e-15L);
  EXPECT_EQ(y[3], y[2]);
  EXPECT_EQ(y[4], kEndless);
}

TEST(SecondOpinion, SortsAreStableAndNanIsAboveAll) {
  const tensor::HostTensor x = fp32({5}, {3, 1, kNone, 3, -2});
  EXPECT_EQ(result(Op::SortIndices, {x}, order(false)), (Values{4, 1, 0, 3, 2}));
  EXPECT_EQ(result(Op::SortIndices, {x}, order(true)), (Values{2, 0, 3, 1, 4}));
  EXPECT_EQ(result(Op::TopKIndices, {x}, order(true), {2}), (Values{2, 0}));
  EXPECT_EQ(result(Op::TopKValues, {x}, order(false), {3}), (Values{-2, 1, 3}));
  EXPECT_EQ(result(Op::SortValues, {fp32({2, 2}, {4, 1, 3, 2})}, order(false)),
            (Values{3, 1, 4, 2}));
}

TEST(SecondOpinion, ProductsOfMatrices) {
  EXPECT_EQ(result(Op::MatMul, {grid(), fp32({3, 2}, {1, 2, 3, 4, 5, 6})}, {}),
            (Values{13, 16, 40, 52}));
  EXPECT_EQ(
      result(Op::MatMul, {fp32({2, 1, 2}, {1, 2, 3, 4}), fp32({2, 2, 1}, {1, 10, 100, 1000})}, {}),
      (Values{21, 4300}));
  EXPECT_EQ(result(Op::MatMul, {int64s({1, 1}, {int64_t{1} << 40}), int64s({1, 1}, {1 << 24})}, {}),
            (Values{0}));
}

TEST(SecondOpinion, Sources) {
  TestGraph g;
  const NodeId tenth = g.builder.constant(DType::Fp32, 0.1);
  const NodeId counted = g.builder.iota({2, 2}, 1, DType::Int32);
  const NodeId halves = g.builder.iota({2050}, 0, DType::Fp16);
  const NodeId zero = g.builder.constant_int(DType::Int64, 0);
  const NodeId drawn = g.add(Op::Philox, {zero, zero}, {}, {4});
  const auto got = second_opinion(g.finish({tenth, counted, halves, drawn}), {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ((*got)[0].value[0], 0.1f);
  EXPECT_EQ((*got)[1].integers, (std::vector<int64_t>{0, 1, 0, 1}));
  EXPECT_EQ((*got)[2].value[2049], 2048);
  // The known answer of Random123 for counter 0 and key 0.
  EXPECT_EQ((*got)[3].value, (Values{0x6627e8p-24L, 0xe169c5p-24L, 0xbc57acp-24L, 0x9b00dbp-24L}));
}

TEST(SecondOpinion, WhereChoosesWholeElements) {
  EXPECT_EQ(result(Op::Where,
                   {truth::integers(DType::Bool, {2}, {1, 0}), int64s({2}, {INT64_MAX, 1}),
                    int64s({2}, {2, INT64_MIN})},
                   {}),
            (Values{static_cast<long double>(INT64_MAX), static_cast<long double>(INT64_MIN)}));
}

}  // namespace
}  // namespace kw::mutation
