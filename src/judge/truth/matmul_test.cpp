// Compares products with plain loops. The products are large enough for blocks of columns, and some
// factors repeat along the batch.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ports/bound.h"
#include "truth/test_graph.h"

namespace kw::truth {
namespace {

using tensor::DType;
using tensor::HostTensor;

struct ProductRow {
  const char* name;
  int64_t batches, rows, depth, columns;
  bool same_left, same_right;  // one matrix for the whole batch
  double zeros;                // share of elements that are zero
};
std::ostream& operator<<(std::ostream& out, const ProductRow& row) { return out << row.name; }

std::vector<double> numbers(int64_t count, double zeros, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& v : values) {
    const bool zero = random() % 1000 < zeros * 1000;
    v = zero ? 0 : static_cast<double>(static_cast<int32_t>(random())) * 0x1p-31;
    v = static_cast<double>(static_cast<float>(v));
  }
  return values;
}

class Products : public testing::TestWithParam<ProductRow> {};

TEST_P(Products, AreSumsOfProducts) {
  const ProductRow& row = GetParam();
  const int64_t m = row.rows, d = row.depth, n = row.columns;
  const auto a = numbers((row.same_left ? 1 : row.batches) * m * d, row.zeros, 1);
  const auto b = numbers((row.same_right ? 1 : row.batches) * d * n, row.zeros, 2);
  for (const int threads : {1, 3}) {
    TestGraph g;
    const auto all = [&](const std::vector<double>& values, bool same, int64_t r, int64_t c) {
      const auto x = g.input(floats(DType::Fp32, {same ? 1 : row.batches, r, c}, values));
      return g.got(g.builder.expand(x, {row.batches, r, c}));
    };
    const auto x = all(a, row.same_left, m, d), z = all(b, row.same_right, d, n);
    ports::TruthOptions options;
    options.threads = threads;
    const ports::Truth truth = g.truths({g.got(g.builder.matmul(x, z))}, options)[0];
    const ports::BoundConstants& c = ports::bound_constants();
    const auto left = [&](int64_t batch, int64_t i, int64_t k) {
      return a[static_cast<size_t>(((row.same_left ? 0 : batch) * m + i) * d + k)];
    };
    const auto right = [&](int64_t batch, int64_t k, int64_t j) {
      return b[static_cast<size_t>(((row.same_right ? 0 : batch) * d + k) * n + j)];
    };
    for (int64_t at = 0; at < row.batches * m * n; at += 1 + at % 7) {
      const int64_t batch = at / (m * n), i = at / n % m, j = at % n;
      double sum = 0, size = 0, in_row = 0, in_column = 0;
      for (int64_t k = 0; k < d; ++k) {
        const double u = left(batch, i, k), v = right(batch, k, j);
        sum += u * v;
        size += std::fabs(u * v);
        in_row += u != 0;
        in_column += v != 0;
      }
      const double terms = std::min(in_row, in_column);
      const double tree = (c.sum_root * std::sqrt(terms) + c.sum_plus) * size;
      const double bound = c.unit * std::max(tree, terms / (2 * c.path_factor) * std::fabs(sum));
      const auto k = static_cast<size_t>(at);
      ASSERT_NEAR(truth.value[k], sum, 1e-14 * size) << at;
      ASSERT_NEAR(truth.a.empty() ? 0 : truth.a[k], bound, 1e-5 * bound) << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Products,
    testing::Values(ProductRow{"Small", 2, 5, 9, 7, false, false, 0},
                    ProductRow{"Blocks", 1, 7, 1100, 301, false, false, 0},
                    ProductRow{"BlocksInABatch", 4, 7, 1100, 301, true, false, 0.5},
                    ProductRow{"OneWeight", 5, 13, 20, 33, true, false, 0},
                    ProductRow{"OneWeightRight", 5, 13, 20, 33, false, true, 0.9},
                    ProductRow{"FewColumns", 2, 200, 2000, 3, false, false, 0},
                    ProductRow{"NoDepth", 2, 3, 0, 4, false, false, 0}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Product, RoundsEveryTermBelowTheNormalRange) {
  constexpr int64_t kRows = 40, kDepth = 300, kColumns = 50;
  std::vector<double> a = numbers(kRows * kDepth, 0, 3), b = numbers(kDepth * kColumns, 0, 4);
  for (double& v : a) v *= 0x1p-70;
  for (double& v : b) v *= 0x1p-72;
  TestGraph g;
  const auto x = g.input(floats(DType::Fp32, {kRows, kDepth}, a));
  const auto z = g.input(floats(DType::Fp32, {kDepth, kColumns}, b));
  const ports::Truth truth = g.truths({g.got(g.builder.matmul(x, z))}, {})[0];
  double worst = 0;
  for (int64_t at = 0; at < kRows * kColumns; ++at) {
    float sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum = std::fma(static_cast<float>(a[static_cast<size_t>(at / kColumns * kDepth + k)]),
                     static_cast<float>(b[static_cast<size_t>(k * kColumns + at % kColumns)]), sum);
    const auto k = static_cast<size_t>(at);
    const double bound = ports::bound_constants().path_factor * truth.a[k] + 0x1p-149;
    worst = std::max(worst, std::fabs(static_cast<double>(sum) - truth.value[k]) / bound);
  }
  EXPECT_LT(worst, 1) << "an honest kernel";
  EXPECT_GT(worst, 0.2) << "what is allowed is not far from what happens";
}

}  // namespace
}  // namespace kw::truth
