// Which differences between two orders of blocks are those of an honest sum.
#include "vgpu/order_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "tensor/convert.h"

namespace kw::vgpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ports::RunOutcome outcome_of(double value) {
  ports::RunOutcome outcome;
  outcome.buffers.push_back(*tensor::make_tensor(tensor::DType::Fp32, {2}));
  tensor::store_floats(outcome.buffers[0], 0, std::vector<double>{1, value});
  return outcome;
}

struct OrderRow {
  const char* name;
  double natural, permuted;
  record::Certainty certainty;
};

class Orders : public ::testing::TestWithParam<OrderRow> {};

TEST_P(Orders, DifferByRoundingOrByAMistake) {
  kernel::Program program;
  program.buffers.resize(1);
  program.launches.resize(1);
  const auto found =
      compare_orders(program, outcome_of(GetParam().natural), outcome_of(GetParam().permuted));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->certainty, GetParam().certainty);
}

constexpr auto kWarning = record::Certainty::Warning, kCertain = record::Certainty::Certain;
INSTANTIATE_TEST_SUITE_P(All, Orders,
                         ::testing::Values(OrderRow{"Rounding", 2, 2.001, kWarning},
                                           OrderRow{"Race", 2, 3, kCertain},
                                           OrderRow{"SumThatOverflows", kInf, 2, kWarning},
                                           OrderRow{"OtherInfinity", kInf, -kInf, kWarning},
                                           OrderRow{"OverflowToNan", kNan, -kInf, kWarning},
                                           OrderRow{"NanForANumber", 2, kNan, kCertain}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::vgpu
