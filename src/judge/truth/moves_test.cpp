#include "truth/moves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ports/bound.h"
#include "tensor/inputs.h"
#include "truth/test_graph.h"

namespace kw::truth {
namespace {

using graph::Node;
using graph::Op;
using graph::ScatterMode;
using ports::Truth;
using ports::TruthOptions;
using tensor::DType;
using tensor::Family;
using tensor::HostTensor;
using Values = std::vector<double>;
using Integers = std::vector<int64_t>;

TEST(Moves, PadAndConcat) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2, 2}, {1, 2, 3, 4}));
  graph::Attrs frame;
  frame.starts = {0, 1};
  frame.number = -5;
  const auto padded = g.add(Op::Pad, {x}, frame, {3, 4});
  const auto joined = g.add(Op::Concat, {x, x}, along(1));
  graph::Attrs both;
  both.dims = {0, 1};
  const auto flipped = g.add(Op::Flip, {x}, both);
  const auto truths = g.truths({padded, joined, flipped});
  EXPECT_EQ(truths[0].value, (Values{-5, 1, 2, -5, -5, 3, 4, -5, -5, -5, -5, -5}));
  EXPECT_EQ(truths[1].value, (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(truths[2].value, (Values{4, 3, 2, 1}));
  for (const Truth& t : truths) EXPECT_TRUE(t.exact);
}

// Inputs without errors must not get the errors of other inputs.
TEST(Moves, JoinsExactAndInexact) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1000}, Values(1000, 3.0)));
  const auto sum = g.binary(Op::Add, x, 0.1);
  const Truth y = g.truth(g.add(Op::Concat, {sum, x, sum}, along(0)));
  EXPECT_GT(y.a[999], 0);
  for (size_t k = 1000; k < 2000; ++k) ASSERT_EQ(y.a[k], 0);
  EXPECT_GT(y.a[2000], 0);
}

TEST(Moves, GatherAndIndexSelect) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp16, {2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto index = g.input(integers(DType::Int64, {2, 2}, {2, 0, 1, 1}));
  const auto rows = g.input(integers(DType::Int64, {3}, {1, 0, 1}));
  const auto doubled = g.binary(Op::Mul, x, 2.0);
  const auto truths = g.truths(
      {g.add(Op::Gather, {x, index}, along(1)), g.add(Op::IndexSelect, {doubled, rows}, along(0))});
  EXPECT_EQ(truths[0].value, (Values{3, 1, 5, 5}));
  EXPECT_TRUE(truths[0].exact);
  EXPECT_EQ(truths[1].value, (Values{8, 10, 12, 2, 4, 6, 8, 10, 12}));
  EXPECT_GT(truths[1].h[0], 0);
}

TEST(Moves, IndexOutOfRangeIsAnInputError) {
  for (const int64_t bad : {int64_t{3}, int64_t{-1}}) {
    for (const Op op : {Op::Gather, Op::IndexSelect, Op::Scatter}) {
      TestGraph g;
      const auto x = g.input(floats(DType::Fp32, {3}, {1, 2, 3}));
      const auto index = g.input(integers(DType::Int64, {2}, {0, bad}));
      std::vector<TestGraph::Id> in = {x, index};
      if (op == Op::Scatter) in.push_back(g.input(floats(DType::Fp32, {2}, {5, 6})));
      const auto graph = g.finish({g.add(op, in, along(0))});
      const auto result = Interpreter().truth(graph, g.inputs(), {});
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().blame, Blame::Input);
      EXPECT_NE(result.error().message.find("index " + std::to_string(bad) +
                                            " is out of bounds for dimension 0 with size 3"),
                std::string::npos)
          << result.error().message;
    }
  }
}

struct ScatterCase {
  const char* name;
  ScatterMode mode;
  Values want;
};

class Scatter : public testing::TestWithParam<ScatterCase> {};

TEST_P(Scatter, SeveralWritesToOnePlace) {
  TestGraph g;
  const auto base = g.input(floats(DType::Fp32, {4}, {1, 2, 3, 4}));
  const auto index = g.input(integers(DType::Int64, {3}, {1, 3, 1}));
  const auto source = g.input(floats(DType::Fp32, {3}, {5, 6, -7}));
  graph::Attrs attrs = along(0);
  attrs.scatter = GetParam().mode;
  const Truth y = g.truth(g.add(Op::Scatter, {base, index, source}, attrs));
  EXPECT_EQ(y.value, GetParam().want);
  const bool open = GetParam().mode == ScatterMode::Set;
  EXPECT_EQ(y.jump.empty(), !open);
  if (open) {
    EXPECT_EQ(y.jump[1], 12);
  }
  if (GetParam().mode == ScatterMode::Add) {
    EXPECT_EQ(y.a[0], 0);
    EXPECT_NEAR(y.a[1], (2 * std::sqrt(3.0) + 8) * 0x1p-24 * 14, 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Scatter,
                         testing::Values(ScatterCase{"set", ScatterMode::Set, {1, -7, 3, 6}},
                                         ScatterCase{"add", ScatterMode::Add, {1, 0, 3, 10}},
                                         ScatterCase{
                                             "multiply", ScatterMode::Multiply, {1, -70, 3, 24}},
                                         ScatterCase{"max", ScatterMode::Max, {1, 5, 3, 6}},
                                         ScatterCase{"min", ScatterMode::Min, {1, -7, 3, 4}}),
                         [](const auto& suite) { return suite.param.name; });

TEST(Scattered, WhereAPlaceIsUncertainAllOfThemAre) {
  TestGraph g;
  const auto base = g.input(floats(DType::Fp32, {4}, {0, 0, 0, 0}));
  const auto one = g.input(floats(DType::Fp32, {4}, {1, 1, 1, 0}));
  const auto more = g.input(floats(DType::Fp32, {4}, {0x1p-40, 0x1p-39, 0x1p-38, 0}));
  const auto source = g.input(floats(DType::Fp32, {1}, {5}));
  const auto largest = g.add(Op::ArgMax, {g.add(Op::Add, {one, more}, {})}, along(0));
  graph::Attrs attrs = along(0);
  attrs.scatter = ScatterMode::Add;
  const Truth y = g.truth(g.add(Op::Scatter, {base, largest, source}, attrs));
  EXPECT_EQ(y.value, (Values{0, 0, 5, 0}));
  ASSERT_EQ(y.jump.size(), 4u);
  for (const size_t place : {0, 1, 2}) EXPECT_EQ(y.jump[place], 5) << place;
  EXPECT_EQ(y.jump[3], 0);
}

// The published test vectors of Philox 4x32-10.
TEST(Philox, KnownAnswers) {
  const PhiloxBlock zero = philox_block(0, 0, 0);
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
  const PhiloxBlock ones = philox_block(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0});
  EXPECT_EQ(ones.word[0], 0x408f276du);
  EXPECT_EQ(ones.word[1], 0x41c83b0eu);
  EXPECT_EQ(ones.word[2], 0xa20bc7c6u);
  EXPECT_EQ(ones.word[3], 0x6d5451fdu);
}

TEST(Philox, FillsInOrder) {
  TestGraph g;
  const auto seed = g.input(integers(DType::Int64, {}, {7}));
  const auto offset = g.input(integers(DType::Int64, {}, {3}));
  const Truth y = g.truth(g.add(Op::Philox, {seed, offset}, {}, {3, 3}));
  for (int64_t k = 0; k < 9; ++k) {
    const uint32_t word = philox_block(7, 3 + static_cast<uint64_t>(k / 4), 0).word[k % 4];
    EXPECT_EQ(y.value[static_cast<size_t>(k)], static_cast<double>(word >> 8) * 0x1p-24);
  }
}

Values naive(const Values& a, const Values& b, int64_t batch, int64_t m, int64_t k, int64_t n) {
  Values c(static_cast<size_t>(batch * m * n));
  for (int64_t z = 0; z < batch; ++z)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t p = 0; p < k; ++p)
          c[static_cast<size_t>((z * m + i) * n + j)] +=
              a[static_cast<size_t>((z * m + i) * k + p)] *
              b[static_cast<size_t>((z * k + p) * n + j)];
  return c;
}

Values loaded(const HostTensor& tensor) {
  Values values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

struct MatCase {
  int64_t batch, m, k, n;
};

class MatMul : public testing::TestWithParam<MatCase> {};

TEST_P(MatMul, AgreesWithThreeLoops) {
  const auto [batch, m, k, n] = GetParam();
  const HostTensor a = *tensor::make_input(DType::Fp16, {batch, m, k}, Family::Heavy, 1);
  const HostTensor b = *tensor::make_input(DType::Fp16, {batch, k, n}, Family::Normal, 2);
  const Values va = loaded(a), vb = loaded(b);
  const Values want = naive(va, vb, batch, m, k, n);
  Values ma = va, mb = vb;
  for (double& v : ma) v = std::fabs(v);
  for (double& v : mb) v = std::fabs(v);
  const Values size = naive(ma, mb, batch, m, k, n);
  for (const int threads : {1, 3}) {
    TestGraph g;
    TruthOptions options;
    options.threads = threads;
    const auto product = g.got(g.builder.matmul(g.input(a), g.input(b)));
    const Truth y = g.truths({product}, options)[0];
    ASSERT_EQ(y.value.size(), want.size());
    const double tree = (2 * std::sqrt(static_cast<double>(k)) + 8) * 0x1p-24;
    const double chain = static_cast<double>(k) / 4 * 0x1p-24;
    for (size_t at = 0; at < want.size(); ++at) {
      ASSERT_NEAR(y.value[at], want[at], 1e-12 * size[at]);
      const double error = std::max(tree * size[at], chain * std::fabs(want[at]));
      ASSERT_NEAR(y.a[at], error, 1e-5 * error);
      ASSERT_NEAR(y.h[at], 0x1p-11 * std::fabs(want[at]), 1e-6 * size[at] + 0x1p-24);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatMul,
                         testing::Values(MatCase{1, 1, 1, 1}, MatCase{1, 7, 13, 5},
                                         MatCase{2, 6, 64, 16}, MatCase{5, 33, 17, 29},
                                         MatCase{1, 130, 300, 70}));

TEST(MatMulBounds, ErrorsOfTheFactorsArrive) {
  TestGraph g;
  const HostTensor a = *tensor::make_input(DType::Fp16, {4, 50}, Family::Normal, 3);
  const HostTensor b = *tensor::make_input(DType::Fp16, {50, 6}, Family::Normal, 4);
  // Squares in fp16 have one half rounding each; their product must include both.
  const auto x = g.input(a), z = g.input(b);
  const auto xx = g.builder.cast(g.binary(Op::Mul, x, x), DType::Fp32);
  const auto zz = g.builder.cast(g.binary(Op::Mul, z, z), DType::Fp32);
  const Truth y = g.truth(g.got(g.builder.matmul(xx, zz)));
  const Values va = loaded(a), vb = loaded(b);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 6; ++j) {
      double squares = 0;
      for (size_t k = 0; k < 50; ++k) {
        const double p = va[i * 50 + k] * va[i * 50 + k], q = vb[k * 6 + j] * vb[k * 6 + j];
        squares += std::pow(p * q * 0x1p-10, 2);
      }
      EXPECT_NEAR(y.h[i * 6 + j], 4 * std::sqrt(squares), 1e-3 * y.h[i * 6 + j]);
    }
  }
}

TEST(MatMulBounds, Tf32IsAllowedWhenAsked) {
  const HostTensor a = *tensor::make_input(DType::Fp32, {3, 40}, Family::Normal, 3);
  double plain = 0, tf32 = 0;
  for (const bool allowed : {false, true}) {
    TestGraph g;
    const auto x = g.input(a);
    TruthOptions options;
    options.allow_tf32 = allowed;
    const auto product = g.got(g.builder.matmul(x, g.got(g.builder.permute(x, {1, 0}))));
    const Truth y = g.truths({product}, options)[0];
    (allowed ? tf32 : plain) = ports::bound_at(y, 1, false);
  }
  EXPECT_GT(tf32, 50 * plain);
}

TEST(MatMulBounds, IntegersWrap) {
  TestGraph g;
  const auto x = g.input(integers(DType::Int32, {1, 2}, {1 << 30, 3}));
  const auto z = g.input(integers(DType::Int32, {2, 1}, {4, 5}));
  EXPECT_EQ(g.truth(g.got(g.builder.matmul(x, z))).integers, (Integers{15}));
}

TEST(MatMulBounds, InfinityStaysInItsRow) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {2, 2}, {1, HUGE_VAL, 3, 4}));
  const auto z = g.input(floats(DType::Fp32, {2, 1}, {1, 2}));
  const Truth y = g.truth(g.got(g.builder.matmul(x, z)));
  EXPECT_EQ(y.value[0], HUGE_VAL);
  EXPECT_EQ(y.value[1], 11);
  EXPECT_LT(ports::bound_at(y, 1, false), 1e-4);
}

}  // namespace
}  // namespace kw::truth
