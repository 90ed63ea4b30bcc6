// Compares the fast loop with the general one. An empty list of jumps selects the fast loop, a list
// of zeros the general one; all numbers must be equal.
#include "metric/metric_fast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "metric/metric.h"
#include "ports/bound.h"
#include "tensor/convert.h"

namespace kw::metric {
namespace {

using tensor::DType;

struct Case {
  const char* name;
  DType dtype;
  double scale;  // size of the truths
  double error;  // relative error of the results
  bool has_a, has_h;
  int64_t count;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

struct Set {
  ports::Truth truth;
  tensor::HostTensor got;
};

Set draw(const Case& c, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Set set;
  set.truth.name = "y";
  set.truth.dtype = c.dtype;
  set.truth.shape = {c.count};
  std::vector<double> results, values;
  std::vector<float> a, h;
  for (int64_t i = 0; i < c.count; ++i) {
    const double value = i % 97 == 0 ? 0.0 : c.scale * normal(random);
    values.push_back(value);
    if (c.has_a) a.push_back(static_cast<float>(std::fabs(value) * 3e-7));
    if (c.has_h) h.push_back(static_cast<float>(std::fabs(value) * 1e-3));
    results.push_back(value * (1 + c.error * normal(random)));
  }
  set.truth.value = values;
  set.truth.a = a;
  set.truth.h = h;
  set.got = tensor::make_tensor(c.dtype, set.truth.shape).value();
  tensor::store_floats(set.got, 0, results);
  return set;
}

void expect_same(const Set& set) {
  ports::Truth slow = set.truth;
  slow.jump.assign(slow.value.size(), 0.0f);
  const Comparison a = compare(set.truth, set.got, {});
  const Comparison b = compare(slow, set.got, {});
  EXPECT_EQ(a.pass, b.pass);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.telling, b.telling);
  EXPECT_EQ(a.summary.elements, b.summary.elements);
  EXPECT_EQ(a.summary.max_z, b.summary.max_z);
  EXPECT_NEAR(a.summary.rms_z, b.summary.rms_z, 1e-12 * b.summary.rms_z);
  EXPECT_EQ(a.summary.max_abs, b.summary.max_abs);
  EXPECT_EQ(a.summary.max_rel, b.summary.max_rel);
  EXPECT_EQ(a.summary.max_ulps, b.summary.max_ulps);
  ASSERT_EQ(a.summary.worst.has_value(), b.summary.worst.has_value());
  if (!a.summary.worst) return;
  EXPECT_EQ(a.summary.worst->index, b.summary.worst->index);
  EXPECT_TRUE(a.summary.worst->got == b.summary.worst->got ||
              (std::isnan(a.summary.worst->got) && std::isnan(b.summary.worst->got)));
  EXPECT_EQ(a.summary.worst->bound, b.summary.worst->bound);
  EXPECT_EQ(a.summary.worst->ulps, b.summary.worst->ulps);
}

class FastMetric : public testing::TestWithParam<Case> {};

TEST_P(FastMetric, CountsAsTheGeneralLoopDoes) {
  for (uint64_t seed = 1; seed <= 3; ++seed) expect_same(draw(GetParam(), seed));
}

TEST_P(FastMetric, LeavesWhatIsRareToIt) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double rare : {kInfinity, -kInfinity, std::nan(""), 1e300, 70000.0, 65519.0, -0.0}) {
    for (const bool in_truth : {false, true}) {
      Set set = draw(GetParam(), 7);
      const auto at = static_cast<size_t>(GetParam().count / 2);
      if (in_truth) set.truth.value[at] = rare;
      const double values[] = {rare};
      tensor::store_floats(set.got, static_cast<int64_t>(at), values);
      expect_same(set);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FastMetric,
    testing::Values(Case{"Fp32", DType::Fp32, 1, 1e-7, true, true, 40960},
                    Case{"Fp32Tail", DType::Fp32, 1, 1e-7, true, false, 40963},
                    Case{"Fp32Denormals", DType::Fp32, 1e-39, 1e-7, true, true, 8192},
                    Case{"Fp32Wrong", DType::Fp32, 1, 1e-3, true, false, 8192},
                    Case{"Fp32NoErrors", DType::Fp32, 1, 3e-8, false, false, 8192},
                    Case{"Fp16", DType::Fp16, 1, 1e-7, true, true, 100000},
                    Case{"Fp16Rough", DType::Fp16, 3, 3e-4, true, true, 8192},
                    Case{"Fp16Denormals", DType::Fp16, 1e-6, 1e-4, true, false, 8192},
                    Case{"Fp16Large", DType::Fp16, 30000, 1e-7, true, true, 8192},
                    Case{"Bf16", DType::Bf16, 1, 1e-6, true, true, 40960},
                    Case{"Bf16Huge", DType::Bf16, 1e38, 1e-3, false, true, 8192},
                    Case{"Bf16Denormals", DType::Bf16, 1e-39, 1e-3, true, false, 8192},
                    Case{"Few", DType::Fp32, 1, 1e-7, true, true, 7},
                    Case{"Fp64", DType::Fp64, 1, 1e-15, true, true, 4096}),
    [](const auto& test) { return test.param.name; });

TEST(FastMetricRounding, EveryHalfAndItsNeighboursRoundAsTheyShould) {
  for (const DType dtype : {DType::Fp16, DType::Bf16}) {
    ports::Truth truth;
    truth.name = "y";
    truth.dtype = dtype;
    std::vector<double> values;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      tensor::HostTensor one = tensor::make_tensor(dtype, {1}).value();
      one.data[0] = static_cast<std::byte>(bits & 0xff);
      one.data[1] = static_cast<std::byte>(bits >> 8);
      const double value = tensor::get_element(one, 0);
      if (!std::isfinite(value)) continue;
      const double half_step = std::fabs(value) * ports::unit_roundoff(dtype);
      for (const double near : {value, value + half_step, std::nextafter(value + half_step, 1e300)})
        values.push_back(near);
    }
    while (values.size() % 8 != 0) values.push_back(1);
    truth.shape = {static_cast<int64_t>(values.size())};
    truth.value = values;
    tensor::HostTensor got = tensor::make_tensor(dtype, truth.shape).value();
    tensor::store_floats(got, 0, values);
    ports::Truth slow = truth;
    slow.jump.assign(values.size(), 0.0f);
    const Comparison a = compare(truth, got, {});
    const Comparison b = compare(slow, got, {});
    EXPECT_EQ(a.pass, b.pass) << a.reason;
    EXPECT_EQ(a.summary.max_abs, b.summary.max_abs);
    EXPECT_EQ(a.summary.max_z, b.summary.max_z);
  }
}

}  // namespace
}  // namespace kw::metric
