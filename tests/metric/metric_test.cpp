#include <gtest/gtest.h>

#include "study.h"

namespace kw::metric {
namespace {

class Metric : public testing::TestWithParam<size_t> {};

TEST_P(Metric, RefusesNoHonestKernelAndEveryImposter) {
  for (const Row& row : study(study_ops()[GetParam()])) {
    if (row.honest) {
      EXPECT_EQ(row.refused, 0) << row.op << " " << row.dtype << " " << row.name << ": z "
                                << row.worst_z << " in " << row.worst_cell;
    } else {
      EXPECT_GT(row.refused, 0) << row.op << " " << row.dtype << " " << row.name
                                << " is never refused";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, Metric, testing::Range<size_t>(0, study_ops().size()),
                         [](const auto& suite) { return study_ops()[suite.param].name; });

}  // namespace
}  // namespace kw::metric
