#include "truth/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ports/bound.h"
#include "tensor/inputs.h"
#include "truth/test_graph.h"
#include "truth/values.h"

namespace kw::truth {
namespace {

using graph::Op;
using ports::Truth;
using ports::TruthOptions;
using tensor::DType;
using tensor::Family;
using tensor::HostTensor;

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

TEST(Interpreter, AddsAndBoundsTheRounding) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {3}, {1, 2, -4}));
  const auto z = g.input(floats(DType::Fp32, {3}, {0.5, -2, 8}));
  const Truth y = g.truth(g.binary(Op::Add, x, z));
  EXPECT_EQ(y.value, (std::vector<double>{1.5, 0, 4}));
  ASSERT_EQ(y.a.size(), 3u);
  EXPECT_FLOAT_EQ(y.a[0], 1.5f * 0x1p-24f);
  EXPECT_EQ(y.a[1], 0);
  EXPECT_TRUE(y.h.empty());
  EXPECT_FALSE(y.exact);
}

TEST(Interpreter, SumOverEveryDim) {
  const HostTensor tensor = *tensor::make_input(DType::Fp32, {3, 5, 7}, Family::Normal, 1);
  const std::vector<double> x = values_of(tensor);
  for (int mask = 1; mask < 8; ++mask) {
    std::vector<int> dims;
    for (int d = 0; d < 3; ++d) {
      if ((mask & (1 << d)) != 0) dims.push_back(d);
    }
    TestGraph g;
    const Truth y = g.truth(g.reduce(Op::Sum, g.input(tensor), dims));
    std::vector<double> want(y.value.size());
    for (int64_t k = 0; k < 105; ++k) {
      int64_t at = 0;
      const int64_t index[3] = {k / 35, k / 7 % 5, k % 7}, extent[3] = {3, 5, 7};
      for (int d = 0; d < 3; ++d) {
        if ((mask & (1 << d)) == 0) at = at * extent[d] + index[d];
      }
      want[static_cast<size_t>(at)] += x[static_cast<size_t>(k)];
    }
    for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(y.value[k], want[k], 1e-12) << mask;
  }
}

struct LargeCase {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<int> dims;
};

class LargeSum : public testing::TestWithParam<LargeCase> {};

// Shapes that cover every way to split the work; results must not depend on the number of threads.
TEST_P(LargeSum, AgreesWithALoopOnAnyThreads) {
  const HostTensor tensor = *tensor::make_input(DType::Fp16, GetParam().shape, Family::Normal, 2);
  std::vector<Truth> all;
  for (const int threads : {1, 3}) {
    TestGraph g;
    const auto x = g.input(tensor);
    TruthOptions options;
    options.threads = threads;
    const auto sum = g.reduce(Op::Sum, g.binary(Op::Mul, x, x), GetParam().dims, false);
    all.push_back(g.truths({sum}, options)[0]);
  }
  EXPECT_EQ(all[0].value, all[1].value);
  EXPECT_EQ(all[0].a, all[1].a);
  EXPECT_EQ(all[0].h, all[1].h);
  double total = 0, want = 0;
  for (const double v : all[0].value) total += v;
  for (const double v : values_of(tensor)) want += v * v;
  EXPECT_NEAR(total, want, 1e-9 * want);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeSum,
                         testing::Values(LargeCase{"rows", {400, 300}, {1}},
                                         LargeCase{"columns", {400, 300}, {0}},
                                         LargeCase{"wide_columns", {50, 3000}, {0}},
                                         LargeCase{"long_rows", {2, 200000}, {1}},
                                         LargeCase{"tall_columns", {200000, 2}, {0}},
                                         LargeCase{"all", {700, 501}, {0, 1}},
                                         LargeCase{"channels", {8, 16, 30, 30}, {0, 2, 3}},
                                         LargeCase{"middle", {20, 300, 50}, {1}}),
                         [](const auto& suite) { return suite.param.name; });

TEST(Interpreter, SoftmaxOfHalf) {
  const HostTensor tensor = *tensor::make_input(DType::Fp16, {9, 1500}, Family::Normal, 3);
  TestGraph g;
  const auto x = g.builder.cast(g.input(tensor), DType::Fp32);
  const auto e = g.unary(Op::Exp, g.binary(Op::Sub, x, g.reduce(Op::Max, x, {1})));
  const auto y = g.builder.cast(g.binary(Op::Div, e, g.reduce(Op::Sum, e, {1})), DType::Fp16);
  const Truth truth = g.truth(y);
  const std::vector<double> v = values_of(tensor);
  for (size_t row = 0; row < 9; ++row) {
    double sum = 0;
    for (size_t k = 0; k < 1500; ++k) sum += std::exp(v[row * 1500 + k]);
    for (size_t k = 0; k < 1500; ++k) {
      const double want = std::exp(v[row * 1500 + k]) / sum;
      const size_t at = row * 1500 + k;
      ASSERT_NEAR(truth.value[at], want, 1e-13 * want);
      ASSERT_LT(truth.a[at], 440 * 0x1p-24 * want);  // 1500 terms added serially: 375
      ASSERT_GT(truth.a[at], 0x1p-24 * want);
      ASSERT_NEAR(truth.h[at], 0x1p-11 * want, 1.001 * 0x1p-24);
    }
  }
}

// Half of every odd subnormal is a tie, so all honest errors are half a step.
TEST(Interpreter, RoundingsAmongSubnormalsStayBelowHalfTheBound) {
  std::vector<double> v(64);
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(2 * k + 1) * 0x1p-24;
  TestGraph g;
  const auto half = g.binary(Op::Mul, g.input(floats(DType::Fp16, {64}, v)), 0.5);
  const Truth truth = g.truth(g.builder.cast(half, DType::Fp32));
  for (size_t k = 0; k < v.size(); ++k) EXPECT_GE(truth.h[k], 2 * 0x1p-25) << k;
}

TEST(Interpreter, SeesThroughViews) {
  TestGraph g;
  std::vector<double> v(24);
  for (size_t k = 0; k < v.size(); ++k) v[k] = static_cast<double>(k);
  const auto x = g.input(floats(DType::Fp32, {2, 3, 4}, v));
  const auto doubled = g.binary(Op::Mul, x, 2.0);
  const auto p = g.got(g.builder.permute(doubled, {2, 0, 1}));  // [4, 2, 3]
  const auto s = g.got(g.builder.slice(p, 0, 1, 4, 2));         // rows 1 and 3
  const auto r = g.got(g.builder.reshape(s, {4, 3}));           // cannot be a view of x
  const Truth y = g.truth(g.binary(Op::Add, r, 1.0));
  std::vector<double> want;
  for (const int c : {1, 3})
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 3; ++b) want.push_back(2.0 * (a * 12 + b * 4 + c) + 1);
  EXPECT_EQ(y.value, want);
}

TEST(Interpreter, ExactGraphsSaySo) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {4}, {-1, 0, 2, 3}));
  const auto relu = g.binary(Op::Maximum, x, 0.0);
  const auto narrow = g.builder.cast(x, DType::Fp8e4m3);
  const auto wide = g.builder.cast(relu, DType::Fp32);
  const auto sum = g.binary(Op::Add, x, x);
  const auto truths = g.truths({relu, narrow, wide, sum});
  EXPECT_TRUE(truths[0].exact);
  EXPECT_TRUE(truths[0].a.empty());
  EXPECT_EQ(truths[0].value, (std::vector<double>{0, 0, 2, 3}));
  EXPECT_TRUE(truths[1].exact);
  EXPECT_TRUE(truths[2].exact);
  EXPECT_FALSE(truths[3].exact);
}

TEST(Interpreter, EitherSideOfANearStep) {
  TestGraph g;
  // 0.1 + 0.4 equals 0.5 except for rounding; 0.1 + 0.3 is far from it.
  const auto x = g.input(floats(DType::Fp32, {2}, {0.1, 0.1}));
  const auto z = g.input(floats(DType::Fp32, {2}, {0.4, 0.3}));
  const auto sum = g.binary(Op::Add, x, z);
  const auto truths = g.truths({g.unary(Op::Round, sum), g.binary(Op::Gt, sum, 0.5)});
  ASSERT_EQ(truths[0].jump.size(), 2u);
  EXPECT_EQ(truths[0].jump[0], 1);
  EXPECT_EQ(truths[0].jump[1], 0);
  ASSERT_EQ(truths[1].jump.size(), 2u);
  EXPECT_EQ(truths[1].jump[0], 1);
  EXPECT_EQ(truths[1].jump[1], 0);
}

TEST(Interpreter, NothingJumpsOnExactValues) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {3}, {0.5, 0, -0.5}));
  const auto truths = g.truths({g.unary(Op::Round, x), g.binary(Op::Ge, x, 0.0)});
  EXPECT_TRUE(truths[0].jump.empty());
  EXPECT_TRUE(truths[1].jump.empty());
  EXPECT_EQ(truths[1].integers, (std::vector<int64_t>{1, 1, 0}));
}

TEST(Interpreter, MaskedSoftmaxKeepsItsBounds) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 3}, {1, -kInfinity, 2}));
  const auto e = g.unary(Op::Exp, g.binary(Op::Sub, x, g.reduce(Op::Max, x, {1})));
  const Truth y = g.truth(g.binary(Op::Div, e, g.reduce(Op::Sum, e, {1})));
  EXPECT_EQ(y.value[1], 0);
  for (const int64_t k : {0, 1, 2}) EXPECT_LT(ports::bound_at(y, k, false), 1e-4);
}

TEST(Interpreter, OverflowOfTheDeclaredPrecisionIsKnown) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2}, {100, 1}));
  const auto e = g.unary(Op::Exp, x);
  const Truth y = g.truth(g.unary(Op::Log, e));
  EXPECT_EQ(y.value[0], 100);
  EXPECT_EQ(y.may_overflow, (std::vector<uint8_t>{1, 0}));
}

TEST(Interpreter, SquareRootNearZeroIsNotTrusted) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2}, {1.0 / 3, 1.0 / 3}));
  const auto z = g.input(floats(DType::Fp32, {2}, {1.0 / 3, 0}));
  const auto product = g.binary(Op::Mul, x, 3.0);
  const Truth y = g.truth(g.unary(Op::Sqrt, g.binary(Op::Sub, product, g.binary(Op::Mul, z, 3.0))));
  EXPECT_GT(ports::bound_at(y, 0, false), 1e-4);
  EXPECT_LT(ports::bound_at(y, 1, false), 1e-5);
}

TEST(Interpreter, IntegersAreExactAndWrap) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int64, {2}, {int64_t{1} << 62, -7}));
  const auto z = g.input(integers(DType::Int64, {2}, {4, 2}));
  const auto truths = g.truths({g.binary(Op::Mul, x, z), g.binary(Op::FloorDiv, x, z),
                                g.binary(Op::Remainder, x, z), g.binary(Op::Fmod, x, z)});
  EXPECT_EQ(truths[0].integers, (std::vector<int64_t>{0, -14}));
  EXPECT_EQ(truths[1].integers, (std::vector<int64_t>{int64_t{1} << 60, -4}));
  EXPECT_EQ(truths[2].integers, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(truths[3].integers, (std::vector<int64_t>{0, -1}));
}

TEST(Interpreter, DivisionByIntegerZeroIsAnInputError) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int32, {1}, {1}));
  const auto z = g.input(integers(DType::Int32, {1}, {0}));
  const auto graph = g.finish({g.binary(Op::FloorDiv, x, z)});
  const auto result = Interpreter().truth(graph, g.inputs(), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().blame, Blame::Input);
  EXPECT_NE(result.error().message.find("integer division by zero"), std::string::npos);
}

TEST(Interpreter, RefusesWhatDoesNotFit) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {64, 64}, std::vector<double>(4096, 1)));
  const auto graph = g.finish({g.binary(Op::Add, x, 1.0)});
  const auto wrong = Interpreter().truth(graph, {floats(DType::Fp16, {1}, {1})}, {});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "input 'x1' is fp16[1], the graph has fp32[64, 64]");
  TruthOptions small;
  small.max_bytes = 4096;
  const auto large = Interpreter().truth(graph, g.inputs(), small);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("needs 49152 bytes; 4096 are allowed"), std::string::npos)
      << large.error().message;
}

TEST(Interpreter, OpByOpRoundsEveryNode) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {2}, {2048, 1}));
  const auto plus = g.binary(Op::Add, x, 1.0);
  const auto graph = g.finish({g.binary(Op::Sub, plus, x)});
  const auto result = Interpreter().op_by_op(graph, g.inputs(), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(values_of((*result)[0]), (std::vector<double>{0, 1}));
}

float serial_sum(float start, const std::vector<double>& terms) {
  for (const double term : terms) start += static_cast<float>(term);
  return start;
}

// A large number followed by many that are nearly lost beside it.
TEST(Interpreter, OneThreadMayAddLongSums) {
  std::vector<double> terms(20000, 0.9);
  terms[0] = 0x1p24;
  TestGraph g;
  const Truth y = g.truth(g.reduce(Op::Sum, g.input(floats(DType::Fp32, {1, 20000}, terms)), {1}));
  const double error = std::fabs(static_cast<double>(serial_sum(0, terms)) - y.value[0]);
  EXPECT_GT(error, 1000);
  EXPECT_LE(error, ports::bound_at(y, 0, false));
}

TEST(Interpreter, ASumMayStartWithTheBias) {
  const std::vector<double> terms(4000, 0.3);
  for (const Op op : {Op::Add, Op::Sub}) {
    TestGraph g;
    const auto sum = g.reduce(Op::Sum, g.input(floats(DType::Fp32, {1, 4000}, terms)), {1});
    const auto bias = g.input(floats(DType::Fp32, {1, 1}, {0x1p22}));
    const Truth y = g.truth(g.binary(op, sum, bias));
    const double start = op == Op::Add ? 0x1p22 : -0x1p22;
    const double got = static_cast<double>(serial_sum(static_cast<float>(start), terms));
    EXPECT_GT(std::fabs(got - y.value[0]), 100);
    EXPECT_LE(std::fabs(got - y.value[0]), ports::bound_at(y, 0, false));
  }
}

TEST(Interpreter, ASumOfSumsIsOneSum) {
  TestGraph one, two;
  const HostTensor x = floats(DType::Fp32, {100, 100}, std::vector<double>(10000, 0.7));
  const Truth whole = one.truth(one.reduce(Op::Sum, one.input(x), {0, 1}));
  const Truth steps = two.truth(two.reduce(Op::Sum, two.reduce(Op::Sum, two.input(x), {1}), {0}));
  EXPECT_GE(ports::bound_at(steps, 0, false), ports::bound_at(whole, 0, false));
}

// Each order rounds in other places, and all are one chain.
TEST(Interpreter, SerialSumsHaveOtherErrorsInOtherOrders) {
  TestGraph g;
  const HostTensor x = *tensor::make_input(DType::Fp32, {40, 3000}, Family::Normal, 4);
  const HostTensor w = *tensor::make_input(DType::Fp32, {3000, 4}, Family::Normal, 5);
  const auto a = g.input(x);
  const auto graph = g.finish({g.reduce(Op::Sum, a, {1}), g.reduce(Op::Sum, a, {0}),
                               g.got(g.builder.matmul(a, g.input(w)))});
  const auto truths = Interpreter().truth(graph, g.inputs(), {});
  ASSERT_TRUE(truths);
  std::vector<std::vector<HostTensor>> runs;
  for (int serial = 0; serial <= 3; ++serial) {
    TruthOptions options;
    options.serial = serial;
    auto run = Interpreter().op_by_op(graph, g.inputs(), options);
    ASSERT_TRUE(run);
    runs.push_back(std::move(run).value());
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NE(values_of(runs[1][k]), values_of(runs[2][k])) << k;
    EXPECT_NE(values_of(runs[2][k]), values_of(runs[3][k])) << k;
  }
  const auto error = [&](const HostTensor& got) {
    double sum = 0;
    const std::vector<double> values = values_of(got);
    for (size_t i = 0; i < values.size(); ++i) sum += std::fabs(values[i] - (*truths)[0].value[i]);
    return sum;
  };
  EXPECT_GT(error(runs[1][0]), 2 * error(runs[0][0])) << "one chain rounds more than eight";
}

TEST(Interpreter, EmptyTensors) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {0, 3}, {}));
  const auto truths =
      g.truths({g.binary(Op::Add, x, 1.0), g.reduce(Op::Sum, x, {0}), g.reduce(Op::Prod, x, {0})});
  EXPECT_TRUE(truths[0].value.empty());
  EXPECT_EQ(truths[1].value, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(truths[2].value, (std::vector<double>{1, 1, 1}));
}

// The quotient exceeds fp64, so nothing is known of the remainder but its range.
TEST(Remainders, OfHugeNumbersAreAnywhereBelowTheDivisor) {
  for (const Op op : {Op::Remainder, Op::Fmod}) {
    TestGraph g;
    const auto x = g.input(floats(DType::Fp64, {1}, {std::numeric_limits<double>::max()}));
    const auto third = g.unary(Op::Reciprocal, g.input(floats(DType::Fp32, {1}, {3})));
    const Truth y = g.truth(g.binary(op, x, g.builder.cast(third, DType::Fp64)));
    EXPECT_GE(ports::bound_at(y, 0, false), 1.0 / 3);
    EXPECT_LT(ports::bound_at(y, 0, false), 2);
  }
}

TEST(Integers, PowersOfUint64TakeLargeExponents) {
  TestGraph g;
  const auto x = g.input(integers(DType::Uint64, {2}, {3, 2}));
  const auto z = g.input(integers(DType::Uint64, {2}, {-1, -1}));  // 2^64 - 1
  const Truth y = g.truth(g.add(Op::Pow, {x, z}, {}));
  EXPECT_EQ(y.integers[0], static_cast<int64_t>(0xAAAAAAAAAAAAAAABu));
  EXPECT_EQ(y.integers[1], 0);
}

}  // namespace
}  // namespace kw::truth
