#include "truth/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "tensor/inputs.h"
#include "truth/test_graph.h"

namespace kw::truth {
namespace {

using graph::Op;
using ports::Scores;
using ports::Truth;
using tensor::DType;
using tensor::Family;
using Values = std::vector<double>;
using Integers = std::vector<int64_t>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TestGraph::Id ranked(TestGraph& g, Op op, TestGraph::Id x, int dim, bool descending = false,
                     int64_t extent = -1) {
  graph::Attrs attrs = along(dim);
  attrs.descending = descending;
  graph::Shape shape = g.builder[x].shape;
  if (extent >= 0) shape[static_cast<size_t>(dim)] = extent;
  return g.add(op, {x}, attrs, shape);
}

struct ScanCase {
  const char* name;
  Op op;
  bool reverse, exclusive;
  Values want;
};

class Scan : public testing::TestWithParam<ScanCase> {};

TEST_P(Scan, AlongTheLastAndTheFirstDim) {
  const ScanCase& c = GetParam();
  const Values x = {3, -1, 2, 5, 5, -4};
  for (const int dim : {0, 1}) {
    TestGraph g;
    // The second line is twice the first; along dim 0 the lines are columns.
    Values both;
    for (size_t k = 0; k < 6; ++k) {
      for (size_t line = 0; line < 2; ++line) {
        const size_t at = dim == 0 ? k * 2 + line : line * 6 + k;
        if (both.size() <= at) both.resize(12);
        both[at] = x[k] * static_cast<double>(line + 1);
      }
    }
    const auto in = g.input(floats(DType::Fp32, dim == 0 ? Integers{6, 2} : Integers{2, 6}, both));
    const Truth y = g.truth(g.got(g.builder.scan(c.op, in, dim, c.reverse, c.exclusive)));
    for (size_t k = 0; k < 6; ++k)
      EXPECT_EQ(y.value[dim == 0 ? k * 2 : k], c.want[k]) << "dim " << dim << " at " << k;
    if (c.op == Op::CumSum) {
      EXPECT_EQ(y.value[dim == 0 ? 3 : 7], 2 * c.want[1]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Scan,
    testing::Values(ScanCase{"sum", Op::CumSum, false, false, {3, 2, 4, 9, 14, 10}},
                    ScanCase{"sum_reverse", Op::CumSum, true, false, {10, 7, 8, 6, 1, -4}},
                    ScanCase{"sum_exclusive", Op::CumSum, false, true, {0, 3, 2, 4, 9, 14}},
                    ScanCase{"sum_both", Op::CumSum, true, true, {7, 8, 6, 1, -4, 0}},
                    ScanCase{"product", Op::CumProd, false, false, {3, -3, -6, -30, -150, 600}},
                    ScanCase{"max", Op::CumMax, false, false, {3, 3, 3, 5, 5, 5}},
                    ScanCase{"min", Op::CumMin, false, false, {3, -1, -1, -1, -1, -4}},
                    ScanCase{"max_reverse", Op::CumMax, true, false, {5, 5, 5, 5, 5, -4}},
                    ScanCase{"max_index", Op::CumMaxIndex, false, false, {0, 0, 0, 3, 4, 4}},
                    ScanCase{"min_index", Op::CumMinIndex, false, false, {0, 1, 1, 1, 1, 5}}),
    [](const auto& suite) { return suite.param.name; });

TEST(Scan, BoundGrowsWithTheSum) {
  TestGraph g;
  Values x(2000);
  for (size_t k = 0; k < x.size(); ++k) x[k] = k % 2 == 0 ? 1 : -1;
  const Truth y =
      g.truth(g.got(g.builder.scan(Op::CumSum, g.input(floats(DType::Fp32, {1, 2000}, x)), 1)));
  EXPECT_EQ(y.a[0], 0);
  EXPECT_NEAR(y.a[99], (2 * 10 + 8) * 0x1p-24 * 100, 1e-9);
  EXPECT_NEAR(y.a[1999], (2 * std::sqrt(2000.0) + 8) * 0x1p-24 * 2000, 1e-7);
}

// If all partial sums are large, all may round in the same direction.
TEST(Scan, BoundAllowsSerialScans) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 2000}, Values(2000, 1.0)));
  const Truth y = g.truth(g.got(g.builder.scan(Op::CumSum, x, 1)));
  EXPECT_NEAR(4 * y.a[1999], 0x1p-24 * 2000 * 2001 / 2, 1e-4);
}

TEST(Scan, LogSumsKeepWhatLiesFarBelowALaterMaximum) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 5}, {-1000, -1000, 0, 1000, 1000}));
  const Truth y = g.truth(g.got(g.builder.scan(Op::CumLogSumExp, x, 1)));
  const Values want = {-1000, -1000 + std::log(2.0), 0, 1000, 1000 + std::log(2.0)};
  for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(y.value[k], want[k], 1e-12) << k;
  EXPECT_EQ(y.a[0], 0);
  EXPECT_GT(y.a[2], 0);
  EXPECT_LT(y.a[2], 0x1p-24 * 100) << "what is far below has no share in it, nor its error";
}

TEST(Scan, LogSumsOfInfinitiesAndNan) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 7}, {-inf, -inf, 1, inf, 2, nan, 3}));
  const Truth y = g.truth(g.got(g.builder.scan(Op::CumLogSumExp, x, 1)));
  const Values want = {-inf, -inf, 1, inf, inf};
  for (size_t k = 0; k < want.size(); ++k) EXPECT_EQ(y.value[k], want[k]) << k;
  EXPECT_TRUE(std::isnan(y.value[5]) && std::isnan(y.value[6]));
}

TEST(Scan, LogSumsOneByOneInFloatAreWithinTheBound) {
  TestGraph g;
  Values x(3000);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(5 * std::sin(0.7 * k) - 40);
  const auto in = g.input(floats(DType::Fp32, {1, 3000}, x));
  const Truth y = g.truth(g.got(g.builder.scan(Op::CumLogSumExp, in, 1)));
  float serial = -std::numeric_limits<float>::infinity();
  double worst = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    const float v = static_cast<float>(x[k]), top = std::max(serial, v), low = std::min(serial, v);
    serial = std::isinf(low) ? top : top + std::log1p(std::exp(low - top));
    const double bound = 4 * y.a[k] + 0x1p-24 * std::fabs(y.value[k]);
    worst = std::max(worst, std::fabs(serial - y.value[k]) / bound);
  }
  EXPECT_LT(worst, 1);
  EXPECT_GT(worst, 0.001) << "and the bound is no blank cheque";
}

TEST(Ranking, FirstOfEqualsAndNan) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2, 4}, {1, 7, 7, 2, 1, kNan, 9, kNan}));
  const auto truths =
      g.truths({g.reduce(Op::ArgMax, x, {1}, false), g.reduce(Op::ArgMin, x, {1}, false)});
  EXPECT_EQ(truths[0].integers, (Integers{1, 1}));
  EXPECT_EQ(truths[1].integers, (Integers{0, 1}));
  ASSERT_TRUE(truths[0].scores);
  EXPECT_EQ(truths[0].scores->dim, 1);
  EXPECT_EQ(truths[0].scores->extent, 4);
  EXPECT_TRUE(truths[0].scores->largest);
  EXPECT_TRUE(truths[0].scores->first_of_ties);
  EXPECT_FALSE(truths[1].scores->largest);
  EXPECT_EQ(truths[0].scores->value[2], 7);
  EXPECT_EQ(truths[0].scores->bound[2], 0);
  EXPECT_TRUE(truths[0].jump.empty());
}

TEST(Ranking, NearWinnersMayWin) {
  TestGraph g;
  // The two largest differ by less than the product's rounding.
  const auto x = g.input(floats(DType::Fp32, {1, 4}, {1, 3, 3 + 0x1p-22, -2}));
  const auto scaled = g.binary(Op::Mul, x, 1.1);
  const auto index = g.reduce(Op::ArgMax, scaled, {1});
  const auto picked = g.add(Op::Gather, {x, index}, along(1));
  const auto truths = g.truths({index, picked});
  EXPECT_EQ(truths[0].integers, (Integers{2}));
  ASSERT_EQ(truths[0].jump.size(), 1u);
  EXPECT_EQ(truths[0].jump[0], 1);
  EXPECT_GT(truths[0].scores->bound[1], 0);
  ASSERT_EQ(truths[1].jump.size(), 1u);
  EXPECT_FLOAT_EQ(truths[1].jump[0], 0x1p-22f);
}

TEST(Ranking, SortsStablyWithNanLast) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {5}, {2, kNan, 1, 2, -1}));
  const auto truths = g.truths({ranked(g, Op::SortValues, x, 0), ranked(g, Op::SortIndices, x, 0),
                                ranked(g, Op::SortIndices, x, 0, true)});
  EXPECT_EQ(truths[0].value[0], -1);
  EXPECT_EQ(truths[0].value[3], 2);
  EXPECT_TRUE(std::isnan(truths[0].value[4]));
  EXPECT_TRUE(truths[0].exact);
  EXPECT_EQ(truths[1].integers, (Integers{4, 2, 0, 3, 1}));
  EXPECT_EQ(truths[2].integers, (Integers{1, 0, 3, 2, 4}));
  EXPECT_EQ(truths[1].scores->rank, Scores::Rank::Order);
  EXPECT_FALSE(truths[1].scores->largest);
}

TEST(Ranking, TopKLeavesTiesOpen) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 5}, {4, 9, 4, 1, 7}));
  const auto truths = g.truths(
      {ranked(g, Op::TopKValues, x, 1, true, 3), ranked(g, Op::TopKIndices, x, 1, true, 3)});
  EXPECT_EQ(truths[0].value, (Values{9, 7, 4}));
  EXPECT_EQ(truths[1].integers, (Integers{1, 4, 0}));
  ASSERT_EQ(truths[1].jump.size(), 3u);
  EXPECT_EQ(truths[1].jump[0], 0);
  EXPECT_EQ(truths[1].jump[2], 2);
  EXPECT_FALSE(truths[1].scores->first_of_ties);
}

TEST(Ranking, OrderStatisticsMoveNoFurtherThanTheirElements) {
  TestGraph g;
  const auto x = g.input(*tensor::make_input(DType::Fp32, {3, 100}, Family::Heavy, 5));
  const auto y = g.binary(Op::Mul, x, 1.1);
  const Truth truth = g.truth(ranked(g, Op::SortValues, y, 1));
  for (size_t k = 0; k < truth.value.size(); ++k)
    EXPECT_LE(truth.a[k], 1.5 * 0x1p-24 * std::fabs(truth.value[k]) + 1e-9);
}

TEST(Ranking, ScoresFollowTheMovesOfTheIndex) {
  TestGraph g;
  Values v(24);
  for (size_t k = 0; k < 24; ++k) v[k] = static_cast<double>((k * 7) % 24);
  const auto x = g.input(floats(DType::Fp32, {2, 3, 4}, v));
  const auto index = g.reduce(Op::ArgMax, x, {1}, false);       // [2, 4]
  const auto turned = g.got(g.builder.permute(index, {1, 0}));  // [4, 2]
  const auto cut = g.got(g.builder.slice(turned, 0, 1, 4, 2));  // rows 1 and 3
  const Truth y = g.truth(g.builder.cast(cut, DType::Int32));
  ASSERT_TRUE(y.scores);
  const Scores& s = *y.scores;
  ASSERT_EQ(s.shape, (Integers{2, 2, 3}));
  EXPECT_EQ(s.dim, 2);
  for (size_t row = 0; row < 4; ++row) {
    const auto chosen = static_cast<size_t>(y.integers[row]);
    for (size_t k = 0; k < 3; ++k) EXPECT_LE(s.value[row * 3 + k], s.value[row * 3 + chosen]);
  }
}

// e4m3 cannot hold 65504: a kernel that rounds as declared gets NaN there, which wins.
TEST(Indices, OfWhatMayBeNanAreOpen) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {3}, {NAN, 1, 65504}));
  const auto wide = g.builder.cast(g.builder.cast(x, DType::Fp8e4m3), DType::Fp32);
  const auto index = g.got(g.builder.scan(Op::CumMinIndex, wide, 0));
  const ports::Truth truth = g.truth(index);
  ASSERT_EQ(truth.jump.size(), 3u);
  EXPECT_EQ(truth.jump[1], 0);
  EXPECT_EQ(truth.jump[2], 2);
}

/// Ops that choose one of a line, and the position of the chosen one in their result.
struct Choosing {
  Op op;
  size_t at;
};

TestGraph::Id chosen(TestGraph& g, const Choosing& one, TestGraph::Id x) {
  const bool reduces = one.op == Op::Max || one.op == Op::Min;
  if (reduces) return g.reduce(one.op, x, {0});
  if (one.op == Op::CumMax || one.op == Op::CumMin) return g.got(g.builder.scan(one.op, x, 0));
  return ranked(g, one.op, x, 0, one.op == Op::TopKValues, 2);
}

// log(e - e) is -inf, and log(e - e - 2^-30) is NaN. Neither is certain.
TEST(Choices, OfWhatIsNotCertainAreNotCertain) {
  const Choosing kLowest[] = {{Op::Min, 0}, {Op::CumMin, 1}, {Op::SortValues, 0}};
  const Choosing kWithNan[] = {{Op::Max, 0},    {Op::Min, 0},        {Op::CumMax, 1},
                               {Op::CumMin, 1}, {Op::SortValues, 1}, {Op::TopKValues, 0}};
  const auto truth_of = [](const Choosing& one, double less, DType type, bool open) {
    TestGraph g;
    const auto e = g.unary(Op::Exp, g.input(floats(type, {2}, {1, 1})));
    const auto f = g.unary(Op::Exp, g.input(floats(type, {2}, {1, 0})));
    const auto x = g.unary(Op::Log, g.binary(Op::Sub, g.binary(Op::Sub, e, f), less));
    const auto sure = g.input(floats(type, {2}, {less > 0 ? NAN : -HUGE_VAL, 0.5}));
    return g.truth(chosen(g, one, open ? x : g.binary(Op::Mul, sure, 1.1)));
  };
  for (const DType type : {DType::Fp32, DType::Fp16}) {
    for (const bool open : {true, false}) {
      for (const Choosing& one : kLowest) {
        const double bound = ports::bound_at(truth_of(one, 0, type, open), one.at, false);
        EXPECT_EQ(std::isinf(bound), open) << graph::op_info(one.op).name;
      }
      for (const Choosing& one : kWithNan) {
        const double bound = ports::bound_at(truth_of(one, 0x1p-30, type, open), one.at, false);
        EXPECT_EQ(std::isinf(bound), open) << graph::op_info(one.op).name;
      }
    }
  }
}

TEST(Scan, KeepsTheLastOfEqualZeros) {
  for (const Op op : {Op::CumMax, Op::CumMin}) {
    TestGraph g;
    const auto x = g.input(floats(DType::Fp32, {3}, {0.0, -0.0, 0.0}));
    const Truth y = g.truth(g.unary(Op::Reciprocal, g.got(g.builder.scan(op, x, 0))));
    EXPECT_EQ(y.value, (Values{HUGE_VAL, -HUGE_VAL, HUGE_VAL})) << graph::op_info(op).name;
  }
}

}  // namespace
}  // namespace kw::truth
