// What fp64 cannot compute, in wide numbers: each value is right, or has no bound.
#include "truth/wide_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "truth/test_graph.h"
#include "truth/wide_ops.h"

namespace kw::truth {
namespace {

using graph::Op;
using ports::Truth;
using tensor::DType;

TestGraph::Id number(TestGraph& g, double x, DType type = DType::Fp32) {
  return g.input(floats(type, {1}, {x}));
}

/// exp() of an integer that is too large for fp64: its wide value is +inf in fp32, or not known.
void expect_infinite(TestGraph& g, TestGraph::Id integer, const char* what) {
  const Truth y = g.truth(g.unary(Op::Exp, g.builder.cast(integer, DType::Fp32)));
  EXPECT_GT(y.value[0], 1e38) << what;
}

TEST(WideRun, IntegersThatItDoesNotKnowStayUnknown) {
  TestGraph index, cast, sum;
  const auto scores = index.input(floats(DType::Fp32, {4}, {0, 3, 1, 2}));
  const auto best = index.reduce(Op::ArgMax, scores, {0});
  expect_infinite(
      index, index.binary(Op::Add, best, index.builder.constant_int(DType::Int64, 1000)), "index");
  const auto inexact = cast.binary(Op::Mul, cast.unary(Op::Exp, number(cast, 0.1)), 1000.0);
  const auto whole = cast.builder.cast(inexact, DType::Int64);
  expect_infinite(cast, cast.binary(Op::Add, whole, cast.builder.constant_int(DType::Int64, 0)),
                  "cast");
  const auto terms = sum.input(integers(DType::Int64, {2}, {500, 600}));
  const auto total = sum.reduce(Op::Sum, terms, {0});
  expect_infinite(sum, sum.binary(Op::Add, total, sum.builder.constant_int(DType::Int64, 0)),
                  "sum");
}

TEST(WideRun, IntegersBeyondADoubleStayUnknown) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int64, {1}, {std::numeric_limits<int64_t>::max()}));
  const auto same = g.builder.cast(g.binary(Op::Maximum, x, x), DType::Fp32);
  EXPECT_GT(g.truth(g.unary(Op::Exp2, same)).value[0], 1e38);
}

TEST(WideRun, RoundsIntegersThatFp32CannotHold) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int32, {1}, {-((1 << 24) + 1)}));
  const Truth y = g.truth(g.unary(Op::Log, g.unary(Op::Exp, g.builder.cast(x, DType::Fp32))));
  EXPECT_NEAR(y.value[0], -0x1p24, 2);
  EXPECT_GT(ports::bound_at(y, 0, false), 2);
}

TEST(WideRun, NotOfAnIntegerFlipsItsBits) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int32, {1}, {-1001}));
  expect_infinite(g, g.unary(Op::Not, x), "~-1001");
}

struct Inverse {
  Op inner, outer;
  double x, want;
};

TEST(WideRun, FunctionsOfHugeAndTinyArguments) {
  const Inverse kRows[] = {
      {Op::Cosh, Op::Acosh, 1000, 1000},      {Op::Sinh, Op::Asinh, 1000, 1000},
      {Op::Sinh, Op::Asinh, -1000, -1000},    {Op::Erfc, Op::Log, 30, -903.9741171},
      {Op::Erfc, Op::Log, 100, -10005.17754}, {Op::Exp, Op::Sin, -1000, 0},
      {Op::Exp, Op::Digamma, 1000, 1000},
  };
  for (const Inverse& one : kRows) {
    TestGraph g;
    const Truth y = g.truth(g.unary(one.outer, g.unary(one.inner, number(g, one.x))));
    const double bound = ports::bound_at(y, 0, false);
    EXPECT_LE(std::fabs(y.value[0] - one.want), bound)
        << graph::op_info(one.outer).name << " of " << graph::op_info(one.inner).name;
    if (one.outer != Op::Digamma) {
      EXPECT_LT(bound, 0.5);
    }
  }
}

WideValue of_one(Op op, const Wide& x) {
  WideOp rule;
  rule.op = op;
  return wide_unary(rule, {x, {}, {}});
}

/// Each is about `factor` times its argument where that is small.
TEST(WideRules, SmallArgumentsAreNotLost) {
  struct Row {
    Op op;
    double factor;
  };
  const Row kRows[] = {{Op::Sinh, 1},         {Op::Sin, 1},   {Op::Tan, 1},
                       {Op::Asin, 1},         {Op::Atan, 1},  {Op::Tanh, 1},
                       {Op::Asinh, 1},        {Op::Atanh, 1}, {Op::Expm1, 1},
                       {Op::Erf, 1.12837917}, {Op::Log1p, 1}, {Op::Erfinv, 0.88622693}};
  for (const Row& row : kRows) {
    for (const Wide& x : {Wide(0x1p-30), Wide(1.4e-41), exp(Wide(-1000)), -exp(Wide(-1000))}) {
      const Wide ratio = of_one(row.op, x).t / x;
      EXPECT_NEAR(ratio.value(), row.factor, 1e-8) << graph::op_info(row.op).name;
    }
  }
}

TEST(WideRules, HugeArgumentsHaveTheirOwnValueOrNone) {
  const Wide huge = exp(Wide(1e5));
  EXPECT_EQ(of_one(Op::Tanh, huge).t.value(), 1);
  EXPECT_EQ(of_one(Op::Erf, -huge).t.value(), -1);
  EXPECT_EQ(of_one(Op::Erfc, -huge).t.value(), 2);
  EXPECT_NEAR(of_one(Op::Atan, huge).t.value(), std::acos(0), 1e-15);
  EXPECT_NEAR(of_one(Op::Asinh, -huge).t.value(), -1e5 - std::log(2), 1e-9);
  EXPECT_NEAR((of_one(Op::Erfcx, huge).t * huge).value(), 0.5641895835, 1e-9);
  EXPECT_TRUE(of_one(Op::Floor, huge).t == huge);
  for (const Op op : {Op::Sin, Op::Cos, Op::Tan, Op::Lgamma, Op::Digamma})
    EXPECT_FALSE(is_known(of_one(op, huge))) << graph::op_info(op).name;
}

// The range of long double reaches to erfc(106).
TEST(WideRules, ErfcKeepsThePrecisionOfFp64) {
  for (double x = 26.1; x < 106; x += 0.37) {
    const Wide y = of_one(Op::Erfc, Wide(x)).t;
    const long double want = std::erfc(static_cast<long double>(x));
    const long double got =
        std::ldexp(static_cast<long double>(y.mantissa()), static_cast<int>(y.exponent()));
    EXPECT_NEAR(static_cast<double>(got / want), 1, 1e-15) << x;
  }
}

TEST(WideRules, NotOfAFloatIsCertainAwayFromZero) {
  WideOp rule;
  rule.op = Op::Not;
  rule.to = DType::Bool;
  const Wide tiny = exp(Wide(-1000));
  EXPECT_EQ(wide_unary(rule, {Wide(0), {}, {}}).t.value(), 1);
  EXPECT_EQ(wide_unary(rule, {tiny, tiny / Wide(10), {}}).t.value(), 0);
  EXPECT_FALSE(is_known(wide_unary(rule, {tiny, tiny, {}})));
}

TEST(WideRules, PowersOfSpecialValues) {
  WideOp rule;
  rule.op = Op::Pow;
  const auto power = [&](const Wide& x, const Wide& z) {
    return wide_binary(rule, {x, {}, {}}, {z, {}, {}}).t;
  };
  const Wide nan(std::nan("")), inf(infinity()), tiny = exp(Wide(-1e5)), huge = exp(Wide(1e5));
  for (const Wide& x : {nan, inf, -inf, tiny, huge, Wide(0)})
    EXPECT_EQ(power(x, Wide(0)).value(), 1);
  EXPECT_EQ(wide_binary(rule, unknown(), {Wide(0), {}, {}}).t.value(), 1);
  EXPECT_EQ(power(Wide(1), nan).value(), 1);
  EXPECT_EQ(power(Wide(-0.0), Wide(-1)).value(), -infinity());
  EXPECT_EQ(power(Wide(-0.0), Wide(-2)).value(), infinity());
  EXPECT_EQ(power(Wide(2), inf).value(), infinity());
  EXPECT_EQ(power(Wide(0.5), inf).value(), 0);
  EXPECT_NEAR(log(power(tiny, Wide(0.5))).value(), -5e4, 1e-6);
  EXPECT_NEAR(log(power(huge, Wide(3))).value(), 3e5, 1e-6);
}

TEST(WideRun, NumbersOfAnySizeKeepTheirBits) {
  const double most = std::numeric_limits<double>::max(), least = 0x1p-1074;
  for (const double x : {1.0, -1.75, 0x1p-1022, 0x1p-1023, least, -3 * least, most, 0.0, -0.0}) {
    EXPECT_EQ(Wide(x).value(), x);
    EXPECT_EQ(std::signbit(Wide(x).value()), std::signbit(x));
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    EXPECT_EQ(Wide(x).mantissa(), 2 * mantissa);
    EXPECT_EQ(Wide(x).exponent(), x == 0 ? 0 : exponent - 1);
  }
  for (int apart = 0; apart < 1100; ++apart) {  // sums as in fp64
    const double x = std::ldexp(1.625, 20 - apart / 2), z = std::ldexp(-1.375, -apart);
    EXPECT_EQ((Wide(x) + Wide(z)).value(), x + z) << apart;
    EXPECT_EQ((Wide(z) + Wide(x)).value(), x + z) << apart;
    EXPECT_EQ((Wide(1) + Wide(1.5, -apart)).value(), 1 + std::ldexp(1.5, -apart)) << apart;
  }
}

}  // namespace
}  // namespace kw::truth
