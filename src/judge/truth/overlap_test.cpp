// Compares windows and folds with plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ports/bound.h"
#include "tensor/inputs.h"
#include "truth/test_graph.h"
#include "truth/view.h"

namespace kw::truth {
namespace {

using graph::Op;
using tensor::DType;
using tensor::HostTensor;

struct WindowRow {
  const char* name;
  std::vector<int64_t> shape;  // of the tensor that the windows cover
  int dim;
  int64_t count, size, stride, dilation;
};

std::ostream& operator<<(std::ostream& out, const WindowRow& row) { return out << row.name; }

graph::Attrs windows(const WindowRow& row) {
  graph::Attrs attrs = along(row.dim);
  attrs.steps = {row.stride, row.dilation};
  return attrs;
}

std::vector<int64_t> windowed_shape(const WindowRow& row) {
  std::vector<int64_t> shape = row.shape;
  shape[static_cast<size_t>(row.dim)] = row.count;
  shape.push_back(row.size);
  return shape;
}

graph::Shape to_dims(const std::vector<int64_t>& extents) {
  return graph::Shape(extents.begin(), extents.end());
}

// Calls body(element of the windows, element of the tensor) for all.
template <class Body>
void each_pair(const WindowRow& row, Body body) {
  const auto dim = static_cast<size_t>(row.dim);
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < row.shape.size(); ++d) {
    if (d < dim) outer *= row.shape[d];
    if (d > dim) inner *= row.shape[d];
  }
  int64_t from = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < row.count; ++i)
      for (int64_t r = 0; r < inner; ++r)
        for (int64_t k = 0; k < row.size; ++k, ++from) {
          const int64_t place = i * row.stride + k * row.dilation;
          body(static_cast<size_t>(from),
               static_cast<size_t>((o * row.shape[dim] + place) * inner + r));
        }
}

class Windows : public testing::TestWithParam<WindowRow> {};

TEST_P(Windows, AreSeenInPlace) {
  const WindowRow& row = GetParam();
  for (const DType type : {DType::Fp16, DType::Int32}) {
    TestGraph g;
    const HostTensor x = *tensor::make_input(type, row.shape, tensor::Family::Uniform, 3);
    const auto y = g.add(Op::Window, {g.input(x)}, windows(row), to_dims(windowed_shape(row)));
    const ports::Truth truth = g.truth(y);
    EXPECT_TRUE(truth.exact);
    each_pair(row, [&](size_t window, size_t place) {
      ASSERT_EQ(tensor::is_float(type) ? truth.value[window]
                                       : static_cast<double>(truth.integers[window]),
                tensor::get_element(x, static_cast<int64_t>(place)))
          << window;
    });
  }
}

TEST_P(Windows, FoldToSumsOfWhatMeets) {
  const WindowRow& row = GetParam();
  const ports::BoundConstants& c = ports::bound_constants();
  for (const DType type : {DType::Fp64, DType::Fp32, DType::Bf16}) {
    TestGraph g;
    const HostTensor x = *tensor::make_input(type, windowed_shape(row), tensor::Family::Normal, 11);
    const auto y = g.add(Op::Fold, {g.input(x)}, windows(row), to_dims(row.shape));
    const ports::Truth truth = g.truth(y);
    const auto places = static_cast<size_t>(count_of(row.shape));
    std::vector<double> sum(places), size(places);
    std::vector<int64_t> terms(places);
    each_pair(row, [&](size_t window, size_t place) {
      const double v = tensor::get_element(x, static_cast<int64_t>(window));
      sum[place] += v;
      size[place] += std::fabs(v);
      ++terms[place];
    });
    const double unit = type == DType::Fp64 ? 0x1p-53 : c.unit;
    ASSERT_EQ(truth.value.size(), places);
    for (size_t k = 0; k < places; ++k) {
      ASSERT_NEAR(truth.value[k], sum[k], 1e-15 * size[k]) << k;
      const double n = static_cast<double>(terms[k]);
      const double tree = (c.sum_root * std::sqrt(n) + c.sum_plus) * size[k] * unit;
      const double a = terms[k] > 1 ? tree : 0;
      ASSERT_NEAR(truth.a.empty() ? 0 : truth.a[k], a, 1e-6 * a) << k;
      const double h = type == DType::Bf16 && terms[k] > 1 ? 0x1p-8 * std::fabs(sum[k]) : 0;
      ASSERT_NEAR(truth.h.empty() ? 0 : truth.h[k], h, 1e-5 * h + 1e-37) << k;
    }
  }
}

TEST_P(Windows, FoldIntegersWithoutRoundingThem) {
  const WindowRow& row = GetParam();
  TestGraph g;
  HostTensor x = *tensor::make_tensor(DType::Int8, windowed_shape(row));
  std::mt19937 random(5);
  std::vector<int64_t> values(static_cast<size_t>(count_of(x.shape)));
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<int8_t>(random());
    tensor::store_int(x, static_cast<int64_t>(k), values[k]);
  }
  const auto y = g.add(Op::Fold, {g.input(x)}, windows(row), to_dims(row.shape));
  const ports::Truth truth = g.truth(y);
  std::vector<int8_t> sum(static_cast<size_t>(count_of(row.shape)));
  each_pair(row, [&](size_t window, size_t place) {
    sum[place] = static_cast<int8_t>(sum[place] + values[window]);
  });
  for (size_t k = 0; k < sum.size(); ++k) ASSERT_EQ(truth.integers[k], sum[k]) << k;
}

INSTANTIATE_TEST_SUITE_P(All, Windows,
                         testing::Values(WindowRow{"Overlapping", {3, 20, 4}, 1, 9, 4, 2, 1},
                                         WindowRow{"Dilated", {2, 30}, 1, 12, 3, 2, 3},
                                         WindowRow{"WithGaps", {4, 40, 3}, 1, 8, 2, 5, 1},
                                         WindowRow{"RestBehind", {11, 5}, 0, 3, 3, 3, 1},
                                         WindowRow{"One", {7, 6}, 1, 1, 6, 1, 1},
                                         WindowRow{"OfOne", {5}, 0, 5, 1, 1, 1},
                                         WindowRow{"None", {2, 5}, 1, 0, 3, 1, 1},
                                         WindowRow{"OfNothing", {2, 5}, 1, 3, 0, 1, 1},
                                         WindowRow{"WideRows", {2, 5, 5000}, 1, 3, 3, 1, 1},
                                         WindowRow{"ManyRows", {1, 300, 40}, 1, 149, 3, 2, 1},
                                         WindowRow{"LongLine", {9001}, 0, 1799, 8, 5, 1},
                                         WindowRow{"ManySmall", {700, 9}, 1, 4, 3, 2, 1}),
                         [](const auto& row) { return std::string(row.param.name); });

// A jump of one element affects every position at which it is added.
TEST(Overlap, CarriesJumpsAndOverflow) {
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {1, 4}, {1, 1, 1, 1}));
  const auto third = g.binary(Op::Div, x, 3.0);
  const auto step = g.unary(Op::Floor, g.binary(Op::Mul, third, 3.0));
  graph::Attrs attrs = along(0);
  attrs.steps = {1, 1};
  const auto y = g.add(Op::Fold, {step}, attrs, {4});
  const auto big = g.binary(Op::Mul, x, 3e38);
  const auto z = g.add(Op::Fold, {g.got(g.builder.reshape(big, {2, 2}))}, attrs, {3});
  const auto truths = g.truths({y, z});
  ASSERT_EQ(truths[0].jump.size(), 4u);
  EXPECT_EQ(truths[0].jump[2], 1);
  EXPECT_LT(truths[1].a[0], 1e33);
  // The sum of two exceeds fp32: infinite after rounding, with a bound of its own.
  EXPECT_GT(truths[1].value[1], 5e38);
  EXPECT_LT(truths[1].a[1], 1e33);
}

}  // namespace
}  // namespace kw::truth
