#include "tensor/inputs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/hash.h"
#include "tensor/convert.h"

namespace kw::tensor {

namespace {

std::vector<double> values_of(DType type, Family family, int64_t count, uint64_t seed = 1) {
  const HostTensor tensor = make_input(type, {count}, family, seed).value();
  std::vector<double> values(static_cast<size_t>(value_count(tensor)));
  load_values(tensor, 0, values);
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values) {
    m.deviation += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
    m.largest = std::max(m.largest, std::abs(v));
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

std::string digest(DType type, Family family) {
  const HostTensor tensor = make_input(type, {1000}, family, 42).value();
  return hash_hex({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()})
      .substr(0, 8);
}

}  // namespace

TEST(Inputs, NamesRoundTrip) {
  EXPECT_EQ(family_names().size(), 12U);
  for (const std::string& name : family_names())
    EXPECT_EQ(family_name(*family_from_name(name)), name);
  EXPECT_FALSE(family_from_name("gauss"));
}

TEST(Inputs, NormalHasTheBellsMoments) {
  const Moments m = moments(values_of(DType::Fp32, Family::Normal, 1 << 18));
  EXPECT_NEAR(m.mean, 0, 0.01);
  EXPECT_NEAR(m.deviation, 1, 0.01);
  EXPECT_GT(m.largest, 4);
  EXPECT_LT(m.largest, 7);
  int inside = 0;
  for (const double v : values_of(DType::Fp32, Family::Normal, 1 << 16))
    inside += std::abs(v) < 1 ? 1 : 0;
  EXPECT_NEAR(inside / 65536.0, 0.6827, 0.01);
}

TEST(Inputs, FamiliesAreWhatTheirNamesSay) {
  EXPECT_GT(moments(values_of(DType::Fp32, Family::Heavy, 1 << 16)).largest, 50);
  const Moments offset = moments(values_of(DType::Fp32, Family::Offset, 4096));
  EXPECT_NEAR(offset.mean, 1000, 1);
  EXPECT_NEAR(offset.deviation, 1, 0.1);
  EXPECT_LT(moments(values_of(DType::Fp16, Family::Denormal, 4096)).largest, 0x1p-14);
  EXPECT_GT(moments(values_of(DType::Fp16, Family::Denormal, 4096)).largest, 0x1p-16);
  EXPECT_EQ(moments(values_of(DType::Bf16, Family::Equal, 4096)).deviation, 0);
  const auto sorted = values_of(DType::Fp16, Family::Sorted, 5000);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_LT(sorted.front(), sorted.back());
  int negative_zeros = 0, specials = 0, nans = 0;
  for (const double v : values_of(DType::Fp32, Family::Zeros, 1000))
    negative_zeros += std::signbit(v) ? 1 : 0;
  for (const double v : values_of(DType::Fp16, Family::Special, 4096)) {
    specials += std::isinf(v) ? 1 : 0;
    nans += std::isnan(v) ? 1 : 0;
  }
  EXPECT_NEAR(negative_zeros, 500, 80);
  EXPECT_NEAR(specials, 128, 50);
  EXPECT_NEAR(nans, 64, 40);
  EXPECT_EQ(values_of(DType::Fp16, Family::Iota, 3000)[2049], 1);
}

TEST(Inputs, NoFamilyButSpecialMakesNonFinites) {
  for (int t = 0; t < 17; ++t) {
    for (int f = 0; f < 12; ++f) {
      const auto family = static_cast<Family>(f);
      if (family == Family::Special) continue;
      for (const double v : values_of(static_cast<DType>(t), family, 5000)) {
        ASSERT_TRUE(std::isfinite(v))
            << dtype_name(static_cast<DType>(t)) << ' ' << family_name(family);
      }
    }
  }
}

TEST(Inputs, IntegersStayInTheirRange) {
  for (const Family family : {Family::Uniform, Family::Normal, Family::Heavy, Family::Spikes,
                              Family::Offset, Family::Sorted, Family::Iota, Family::Equal}) {
    const HostTensor tensor =
        make_input(DType::Int32, {4096}, family, 5, IntegerRange{10, 19}).value();
    bool varies = false;
    for (int64_t i = 0; i < 4096; ++i) {
      ASSERT_GE(get_element(tensor, i), 10) << family_name(family);
      ASSERT_LE(get_element(tensor, i), 19) << family_name(family);
      varies = varies || get_element(tensor, i) != get_element(tensor, 0);
    }
    EXPECT_EQ(varies, family != Family::Equal) << family_name(family);
  }
  EXPECT_FALSE(make_input(DType::Int8, {4}, Family::Uniform, 1, IntegerRange{5, 2}));
  EXPECT_TRUE(
      make_input(DType::Int64, {4}, Family::Uniform, 1, IntegerRange{INT64_MIN, INT64_MAX}));
}

TEST(Inputs, SeedsAndFamiliesDiffer) {
  EXPECT_NE(values_of(DType::Fp32, Family::Normal, 64, 1),
            values_of(DType::Fp32, Family::Normal, 64, 2));
  EXPECT_EQ(values_of(DType::Fp32, Family::Normal, 64, 1),
            values_of(DType::Fp32, Family::Normal, 64, 1));
}

TEST(Inputs, LargeTensorsBeginLikeSmallOnes) {
  for (const DType type : {DType::Fp16, DType::Fp4e2m1x2, DType::Int32}) {
    const HostTensor large = make_input(type, {(int64_t{3} << 20) + 3}, Family::Normal, 9).value();
    for (const int64_t at : {int64_t{0}, int64_t{1} << 20, (int64_t{3} << 20) + 2}) {
      const HostTensor upto = make_input(type, {at + 1}, Family::Normal, 9).value();
      EXPECT_EQ(get_element(large, at), get_element(upto, at)) << dtype_name(type) << ' ' << at;
    }
    const HostTensor small = make_input(type, {100000}, Family::Normal, 9).value();
    EXPECT_TRUE(std::equal(small.data.begin(), small.data.end(), large.data.begin()));
  }
}

// The bytes must never change: stored results refer to inputs by family and seed.
TEST(Inputs, BytesNeverChange) {
  EXPECT_EQ(digest(DType::Fp32, Family::Normal), "271a95cb");
  EXPECT_EQ(digest(DType::Fp16, Family::Heavy), "0bf19785");
  EXPECT_EQ(digest(DType::Bf16, Family::Special), "d326a891");
  EXPECT_EQ(digest(DType::Fp8e4m3, Family::Uniform), "5a6aa042");
  EXPECT_EQ(digest(DType::Int64, Family::Normal), "74a5a978");
  EXPECT_EQ(digest(DType::E8m0, Family::Uniform), "00e97fae");
}

}  // namespace kw::tensor
