// Where results leave the range of their type: what is right besides the truth, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ports/bound.h"
#include "truth/test_graph.h"
#include "truth/wide.h"

namespace kw::truth {
namespace {

using graph::Op;
using ports::Truth;
using tensor::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kMax32 = std::numeric_limits<float>::max();

int may_be(const Truth& truth, size_t at) {
  return truth.may_overflow.empty() ? 0 : truth.may_overflow[at];
}

/// Returns whether a finite value is right by one of the other values.
bool is_other(const Truth& truth, int64_t at, double value) {
  return std::ranges::any_of(truth.others, [&](const ports::OtherValue& other) {
    return other.index == at && std::fabs(other.value - value) <= other.bound;
  });
}

TEST(OverflowTest, SquareOfHalfIsInfiniteWithABound) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {2}, {1000, 2}));
  const Truth y = g.truth(g.binary(Op::Mul, x, x));
  EXPECT_EQ(y.value[0], 1e6);
  EXPECT_LT(ports::bound_at(y, 0, false), 2000);
  EXPECT_EQ(may_be(y, 0), 0) << "both ways give +inf";
}

TEST(OverflowTest, ScaledBackHasTwoRightClasses) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {2}, {1000, 2}));
  const Truth y = g.truth(g.binary(Op::Mul, g.binary(Op::Mul, x, x), 1e-3));
  EXPECT_NEAR(y.value[0], 1000, 0.1);
  EXPECT_LT(ports::bound_at(y, 0, false), 3);
  EXPECT_EQ(may_be(y, 0), ports::kMayBeUp);
  EXPECT_EQ(may_be(y, 1), 0);
  EXPECT_TRUE(y.others.empty());
}

TEST(OverflowTest, WhatFollowsAnInfinityIsAValueOfItsOwn) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {1}, {1000}));
  const auto square = g.binary(Op::Mul, x, x);
  const Truth y = g.truth(g.binary(Op::Div, x, square));  // 0.001, or 1000 / inf
  EXPECT_NEAR(y.value[0], 1e-3, 1e-9);
  EXPECT_LT(ports::bound_at(y, 0, false), 1e-5);
  EXPECT_EQ(may_be(y, 0), ports::kMayBeOther);
  EXPECT_TRUE(is_other(y, 0, 0));
  EXPECT_FALSE(is_other(y, 0, 0.5));
}

// exp(-x^2) + x^4 * 1e-6 in fp16: a kernel may keep either square, both or none.
TEST(OverflowTest, PartlyFusedKernelsAreRight) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {1}, {300}));
  const auto square = g.binary(Op::Mul, x, x);
  const auto ratio = g.binary(Op::Div, g.binary(Op::Mul, x, 64.0), square);  // 0.2133 or 0
  const auto cube = g.binary(Op::Mul, g.binary(Op::Mul, x, 250.0), 1e-3);    // 75 or inf
  const Truth y = g.truth(g.binary(Op::Add, ratio, g.binary(Op::Minimum, cube, 80.0)));
  EXPECT_NEAR(y.value[0], 75.2133, 1e-3);
  EXPECT_TRUE(is_other(y, 0, 75.0)) << "only the square overflows";
  EXPECT_TRUE(is_other(y, 0, 80.2133)) << "only the product overflows";
  EXPECT_TRUE(is_other(y, 0, 80.0)) << "both do";
  EXPECT_FALSE(is_other(y, 0, 42));
}

struct SumRow {
  const char* name;
  std::vector<double> terms;
  int classes;  // besides that of the truth
};

class SumOrders : public testing::TestWithParam<SumRow> {};

TEST_P(SumOrders, DecideTheClass) {
  const SumRow& row = GetParam();
  const auto n = static_cast<int64_t>(row.terms.size());
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, n}, row.terms));
  const auto ones = g.input(floats(DType::Fp32, {n, 1}, std::vector<double>(row.terms.size(), 1)));
  const auto truths = g.truths({g.reduce(Op::Sum, x, {1}), g.got(g.builder.matmul(x, ones)),
                                g.got(g.builder.scan(Op::CumSum, x, 1))});
  EXPECT_EQ(may_be(truths[0], 0), row.classes);
  EXPECT_EQ(may_be(truths[1], 0), row.classes) << "as a product";
  EXPECT_EQ(may_be(truths[2], row.terms.size() - 1), row.classes) << "as the end of a scan";
}

constexpr int kUp = ports::kMayBeUp, kDown = ports::kMayBeDown, kNanToo = ports::kMayBeNan;
INSTANTIATE_TEST_SUITE_P(
    Overflow, SumOrders,
    testing::Values(SumRow{"Small", {1, 2, -3, 4}, 0}, SumRow{"OneLarge", {kMax32, 1, 2, 3}, 0},
                    SumRow{"UpOnly", {kMax32, kMax32, -kMax32, 1}, kUp},
                    SumRow{"DownOnly", {-kMax32, -kMax32, kMax32, 1}, kDown},
                    SumRow{"BothWays", {kMax32, kMax32, -kMax32, -kMax32}, kUp | kDown | kNanToo},
                    SumRow{"SurelyUp", {kMax32, kMax32, 1, 1}, 0},
                    SumRow{"InfinityAlone", {kInf, kMax32, kMax32, 1}, 0},
                    SumRow{"InfinityAgainst", {kInf, -kMax32, -kMax32, 1}, kNanToo},
                    SumRow{"BothInfinities", {kInf, -kInf, -kMax32, -kMax32}, 0},
                    SumRow{"NanStays", {NAN, -kMax32, -kMax32, 1}, 0}),
    [](const auto& row) { return row.param.name; });

// The mean of a row may be +inf, -inf or NaN; what follows knows all of it.
// A fused product is not rounded: +inf of the partial sums stays, whatever finite product follows.
TEST(OverflowTest, TermsBesideAHugeProductMayOverflowFirst) {
  constexpr double kLargest = 3.4e38;
  TestGraph g;
  const auto a = g.input(floats(DType::Fp32, {1, 3}, {kLargest, kLargest, -kLargest}));
  const auto b = g.input(floats(DType::Fp32, {3, 1}, {1, 1, kLargest}));
  const Truth y = g.truth(g.got(g.builder.matmul(a, b)));
  EXPECT_LT(y.value[0], -1e76);
  EXPECT_EQ(may_be(y, 0) & (ports::kMayBeUp | ports::kMayBeNan),
            ports::kMayBeUp | ports::kMayBeNan);
}

// A huge product of any mantissa and what stands beside it: fp32 magnitudes would lose the latter.
int classes_beside(double huge, const std::vector<double>& beside) {
  TestGraph g;
  std::vector<double> left = beside, right(beside.size(), 1);
  left.push_back(huge);
  right.push_back(huge);
  const auto n = static_cast<int64_t>(left.size());
  const auto a = g.input(floats(DType::Fp32, {1, n}, left));
  const auto b = g.input(floats(DType::Fp32, {n, 1}, right));
  return may_be(g.truth(g.got(g.builder.matmul(a, b))), 0);
}

TEST(OverflowTest, EndsOfProductsAreExactBesideAHugeProduct) {
  for (int k = 0; k < 100; ++k) {
    const double huge = (1 + k * 0.0099) * 0x1p127;
    EXPECT_EQ(classes_beside(huge, {-kMax32, -kMax32, -kMax32}), kDown | kNanToo) << k;
    EXPECT_EQ(classes_beside(huge, {-1, -kMax32, 1}), 0) << k << ": the rest stays in range";
  }
}

/// The classes of relu(a @ b + c), or of a @ b - c, where the terms of the product cancel.
int classes_joined(double term, double c, Op op) {
  TestGraph g;
  const auto a = g.input(floats(DType::Fp32, {1, 2}, {term, -term}));
  const auto b = g.input(floats(DType::Fp32, {2, 1}, {1, 1}));
  const auto bias = g.input(floats(DType::Fp32, {1}, {c}));
  const auto sum =
      g.binary(op, g.got(g.builder.matmul(a, b)), g.got(g.builder.expand(bias, {1, 1})));
  return may_be(g.truth(op == Op::Sub ? sum : g.binary(Op::Maximum, sum, 0.0)), 0);
}

// acc = bias; acc += a[k] * b[k]
TEST(OverflowTest, SumsMayStartWithWhatIsAdded) {
  EXPECT_EQ(classes_joined(0.75 * kMax32, 0.5 * kMax32, Op::Add), kUp);
  EXPECT_EQ(classes_joined(0.75 * kMax32, 0.5 * kMax32, Op::Sub), kDown);
  EXPECT_EQ(classes_joined(0.75 * kMax32, 1, Op::Add), 0) << "nothing leaves the range";
  EXPECT_EQ(classes_joined(1, 0.5 * kMax32, Op::Add), 0);
}

TEST(OverflowTest, ClassesOfSumsPassThroughWhatFollows) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 4}, {kMax32, kMax32, -kMax32, -kMax32}));
  const auto mean = g.binary(Op::Div, g.reduce(Op::Sum, x, {1}), 4.0);
  const Truth y = g.truth(g.binary(Op::Sub, x, mean));
  EXPECT_EQ(may_be(y, 0), kUp | kDown | kNanToo);
  EXPECT_LT(ports::bound_at(y, 0, false), 1e34);
}

// {max, -max} has the mean 0 by every order of a sum, but the difference of both overflows.
TEST(OverflowTest, MeansMayBeUpdatedTermByTerm) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 2}, {kMax32, -kMax32}));
  const auto sum = g.reduce(Op::Sum, x, {1});
  const auto truths = g.truths({sum, g.binary(Op::Div, sum, 2.0)});
  EXPECT_EQ(truths[1].value[0], 0);
  EXPECT_EQ(may_be(truths[1], 0), kUp | kDown | kNanToo);
}

struct WideRow {
  const char* name;
  double x, want;
  int classes;
};

class Stable : public testing::TestWithParam<WideRow> {};

// log(1 + exp(x)): a kernel that computes it as x + log1p(exp(-x)) is right everywhere, and one
// that computes what is written gives its own class.
TEST_P(Stable, SoftplusIsRightEverywhere) {
  const WideRow& row = GetParam();
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1}, {row.x}));
  const Truth y = g.truth(g.unary(Op::Log, g.binary(Op::Add, g.unary(Op::Exp, x), 1.0)));
  EXPECT_NEAR(y.value[0], row.want, 1e-6 * std::fabs(row.want));
  EXPECT_LE(ports::bound_at(y, 0, false), 1e-5 * std::fabs(row.want) + 1e-6);
  EXPECT_EQ(may_be(y, 0), row.classes);
}
INSTANTIATE_TEST_SUITE_P(Overflow, Stable,
                         testing::Values(WideRow{"Small", 1, 1.313261687, 0},
                                         WideRow{"BeyondFp32", 100, 100, kUp},
                                         WideRow{"BeyondFp64", 1000, 1000, kUp},
                                         WideRow{"FarBeyond", 131072, 131072, kUp},
                                         WideRow{"Largest", kMax32, kMax32, kUp}),
                         [](const auto& row) { return row.param.name; });

TEST(OverflowTest, LogOfSigmoidAndOfSumsIsRightEverywhere) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 3}, {-131072, -131071, -2000}));
  const auto ends = g.unary(Op::Log, g.unary(Op::Sigmoid, x));
  const auto sum = g.unary(Op::Log, g.reduce(Op::Sum, g.unary(Op::Exp, x), {1}));
  const auto truths = g.truths({ends, sum});
  EXPECT_EQ(truths[0].value[0], -131072);
  EXPECT_LT(ports::bound_at(truths[0], 0, false), 1);
  EXPECT_EQ(may_be(truths[0], 0), kDown);
  EXPECT_EQ(truths[1].value[0], -2000);
  EXPECT_LT(ports::bound_at(truths[1], 0, false), 0.1);
}

TEST(OverflowTest, NaiveSoftmaxKeepsItsShares) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 3}, {2000, 2001, 1990}));
  const auto e = g.unary(Op::Exp, x);
  const Truth y = g.truth(g.binary(Op::Div, e, g.reduce(Op::Sum, e, {1})));
  EXPECT_NEAR(y.value[1], 0.73105, 1e-4);
  EXPECT_LT(ports::bound_at(y, 1, false), 0.02);
  EXPECT_EQ(may_be(y, 1) & kNanToo, kNanToo) << "inf / inf in fp32";
}

// The square of 1e-30 is 0 in fp32, whatever the other element does.
TEST(OverflowTest, UnderflowBesideOverflowIsAllowedToo) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2}, {1e-30, 1e30}));
  const Truth y = g.truth(g.unary(Op::Sqrt, g.binary(Op::Mul, x, x)));
  EXPECT_NEAR(y.value[0], 1e-30, 1e-37);
  EXPECT_LT(ports::bound_at(y, 0, false), 1e-35);
  EXPECT_TRUE(is_other(y, 0, 0));
  EXPECT_FALSE(is_other(y, 0, 5e-31));
  EXPECT_EQ(may_be(y, 1), ports::kMayBeUp);
}

/// 0 in fp64 and 1 in fp32: the latter cannot hold 1 - 2^-25.
TestGraph::Id zero_or_one(TestGraph& g) {
  const auto e = g.unary(Op::Exp, g.input(floats(DType::Fp32, {1}, {0})));
  return g.unary(Op::Floor, g.binary(Op::Sub, e, 0x1p-25));
}

TEST(OverflowTest, NanOfADivisorThatMayNotBeZeroIsNotCertain) {
  for (const Op op : {Op::Fmod, Op::Remainder, Op::Div}) {
    for (const bool follows : {false, true}) {
      TestGraph g;
      const auto x = g.input(floats(DType::Fp32, {1}, {0}));
      auto y = g.binary(op, x, zero_or_one(g));
      if (follows) y = g.unary(Op::Acos, y);
      const Truth truth = g.truth(y);
      EXPECT_TRUE(std::isnan(truth.value[0]));
      EXPECT_TRUE(is_other(truth, 0, follows ? std::acos(0) : 0)) << graph::op_info(op).name;
    }
  }
}

// 0 / z is 0 in fp64, but NaN in fp32.
TEST(OverflowTest, IntegersOfTheOpByOpRunAreAllowed) {
  TestGraph g;
  const auto one = g.unary(Op::Exp, g.input(floats(DType::Fp32, {1}, {0})));
  const auto z = g.binary(Op::Sub, g.unary(Op::Ceil, g.binary(Op::Add, one, 0x1p-25)), 1.0);
  const auto ratio = g.binary(Op::Div, g.input(floats(DType::Fp32, {1}, {0})), z);
  const Truth y = g.truth(g.unary(Op::IsNan, ratio));
  EXPECT_EQ(y.integers[0], 0);
  ASSERT_FALSE(y.jump.empty());
  EXPECT_EQ(y.jump[0], 1);
}

// The exponent -1.0039 is -1 in bf16, which is odd.
TEST(OverflowTest, TheSignOfAPoleDependsOnTheExponent) {
  TestGraph g;
  const auto x = g.input(floats(DType::Bf16, {1}, {-0.0}));
  const auto sums =
      g.add(Op::CumSum, {g.input(floats(DType::Bf16, {2}, {-1, -0.00390625}))}, along(0));
  const Truth y = g.truth(g.binary(Op::Pow, x, g.got(g.builder.slice(sums, 0, 1, 2))));
  EXPECT_EQ(y.value[0], kInf);
  EXPECT_EQ(may_be(y, 0), ports::kMayBeDown);
}

TEST(WideTest, NumbersBehaveLikeNumbers) {
  EXPECT_EQ((exp(Wide(1000)) / exp(Wide(999))).value(), std::exp(1.0));
  EXPECT_NEAR(log(exp(Wide(3e38))).value(), 3e38, 1e24);
  EXPECT_NEAR(log(exp(Wide(-1e5))).value(), -1e5, 1e-9);
  EXPECT_EQ((exp(Wide(1e5)) + Wide(1) - exp(Wide(1e5))).value(), 0);
  EXPECT_TRUE(exp(Wide(-1e5)) < exp(Wide(-9e4)));
  EXPECT_TRUE(-exp(Wide(1e5)) < -exp(Wide(9e4)));
  EXPECT_NEAR(log(sqrt(exp(Wide(1e5)))).value(), 5e4, 1e-6);
  EXPECT_EQ(exp(Wide(1e5)).value(), kInf);
  EXPECT_EQ(Wide(0x1p-1074).value(), 0x1p-1074);
}

}  // namespace
}  // namespace kw::truth
