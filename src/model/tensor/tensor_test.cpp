#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/convert.h"
#include "tensor/host_tensor.h"

namespace kw::tensor {

TEST(HostTensor, CountsElements) {
  EXPECT_EQ(*element_count({}), 1);
  EXPECT_EQ(*element_count({3, 4}), 12);
  EXPECT_EQ(*element_count({int64_t{1} << 40, int64_t{1} << 40, 0}), 0);
  EXPECT_NE(
      element_count({int64_t{1} << 40, int64_t{1} << 40}).error().message.find("more elements"),
      std::string::npos);
  EXPECT_NE(element_count({2, -1}).error().message.find("negative"), std::string::npos);
}

TEST(HostTensor, RefusesWhatMemoryCannotHold) {
  const auto huge = make_tensor(DType::Fp32, {int64_t{1} << 42});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().blame, Blame::Environment);
  EXPECT_NE(huge.error().message.find("not enough memory"), std::string::npos);
  EXPECT_EQ(make_tensor(DType::Fp64, {int64_t{1} << 62}).error().blame, Blame::Input);
}

struct RoundTrip {
  DType type;
  double in, want;
};

class Elements : public testing::TestWithParam<RoundTrip> {};

TEST_P(Elements, AreRoundedOnceAndReadBack) {
  HostTensor tensor = make_tensor(GetParam().type, {3}).value();
  set_element(tensor, 1, GetParam().in);
  if (std::isnan(GetParam().want)) {
    EXPECT_TRUE(std::isnan(get_element(tensor, 1)));
  } else {
    EXPECT_EQ(get_element(tensor, 1), GetParam().want) << dtype_name(GetParam().type);
  }
  EXPECT_EQ(get_element(tensor, 0), get_element(tensor, 2)) << "a neighbour was touched";
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
INSTANTIATE_TEST_SUITE_P(
    All, Elements,
    testing::Values(RoundTrip{DType::Fp64, 0.1, 0.1}, RoundTrip{DType::Fp32, 0.1, 0.1f},
                    RoundTrip{DType::Fp16, 2049, 2048}, RoundTrip{DType::Fp16, 65520, kInf},
                    RoundTrip{DType::Fp16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
                    RoundTrip{DType::Bf16, 257, 256}, RoundTrip{DType::Fp8e4m3, 1000, 448},
                    RoundTrip{DType::Fp8e4m3, kNan, kNan}, RoundTrip{DType::Fp8e5m2, -kInf, -kInf},
                    RoundTrip{DType::Fp8e5m2, 1e9, 57344}, RoundTrip{DType::Fp4e2m1x2, -2.6, -3},
                    RoundTrip{DType::E8m0, 4, 4}, RoundTrip{DType::Int8, 200, 127},
                    RoundTrip{DType::Int8, -200, -128}, RoundTrip{DType::Int32, 2.5, 2},
                    RoundTrip{DType::Uint8, -3, 0}, RoundTrip{DType::Uint16, 70000, 65535},
                    RoundTrip{DType::Uint64, 0x1p63, 0x1p63},
                    RoundTrip{DType::Int64, -0x1p63, -0x1p63}, RoundTrip{DType::Int16, kNan, 0},
                    RoundTrip{DType::Bool, 7, 1}));

TEST(Convert, Fp4HoldsTwoValuesPerByte) {
  HostTensor tensor = make_tensor(DType::Fp4e2m1x2, {2}).value();
  const double in[] = {1, -6, 0.5, 3};
  store_floats(tensor, 0, in);
  double out[4] = {};
  load_values(tensor, 0, out);
  EXPECT_EQ(value_count(tensor), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], in[i]);
}

}  // namespace kw::tensor
