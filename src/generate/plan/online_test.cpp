// Tests which sums of squares share a pass with the mean they use.
#include <gtest/gtest.h>

#include "emit/emit.h"
#include "graph/builder.h"
#include "plan/passes.h"
#include "rows/row_plan.h"

namespace kw::generate {
namespace {

using graph::Builder;
using graph::Operand;

NodeId sure_of(Result<NodeId> made) {
  if (!made) throw std::runtime_error(made.error().message);
  return *made;
}
NodeId joined_by(Builder& b, Op op, NodeId one, Operand other) {
  return sure_of(b.binary(op, Operand::tensor(one), other));
}

/// The sum of (x - sum(y) / count)^2 over the last dim of x.
NodeId squares(Builder& b, NodeId x, NodeId y, const Dim& count) {
  const NodeId total = sure_of(b.reduce(Op::Sum, y, {1}, true));
  const NodeId mean = joined_by(b, Op::Div, total, Operand::of(count));
  const NodeId apart = joined_by(b, Op::Sub, x, Operand::tensor(mean));
  return sure_of(
      b.reduce(Op::Sum, joined_by(b, Op::Mul, apart, Operand::tensor(apart)), {1}, true));
}

struct OnlineRow {
  const char* name;
  NodeId (*build)(Builder& b, NodeId x, const Dim& count);
  bool centred;
};

class OnlineTable : public testing::TestWithParam<OnlineRow> {};

TEST_P(OnlineTable, IsFoundByItsForm) {
  Builder b;
  const Dim count = graph::Dim::symbol("D", 40000);
  const NodeId x = b.input("x", DType::Fp32, {graph::Dim::symbol("B", 2), count});
  const NodeId y = GetParam().build(b, x, count);
  const auto made = run_passes(std::move(b).finish({{"y", y}}), {});
  ASSERT_TRUE(made) << made.error().message;
  Region region;
  region.graph = &*made;
  region.name = "kernel";
  const Node& input = (*made)[made->inputs[0].node];
  region.loads[made->inputs[0].node] = {"x", input.dtype, input.shape};
  const NodeId out = made->outputs[0].node;
  region.stores.push_back({out, {"y", (*made)[out].dtype, (*made)[out].shape}});
  const auto plan = plan_rows(region);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->passes.size(), 2U);
  const auto online = plan_online(region, *plan);
  EXPECT_EQ(online.has_value(), GetParam().centred);
  if (online) {
    EXPECT_EQ(online->passes.size(), 1U);
    EXPECT_EQ(online->centred.size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Squares, OnlineTable,
                         testing::Values(OnlineRow{"AboutTheMean",
                                                   [](Builder& b, NodeId x, const Dim& count) {
                                                     return squares(b, x, x, count);
                                                   },
                                                   true},
                                         OnlineRow{"OfAnExpression",
                                                   [](Builder& b, NodeId x, const Dim& count) {
                                                     const NodeId tanh =
                                                         sure_of(b.unary(Op::Tanh, x));
                                                     return squares(b, tanh, tanh, count);
                                                   },
                                                   true},
                                         OnlineRow{"AboutAnotherNumber",
                                                   [](Builder& b, NodeId x, const Dim& count) {
                                                     return squares(b, x, x, count - Dim(1));
                                                   },
                                                   false},
                                         OnlineRow{"AboutTheMeanOfAnother",
                                                   [](Builder& b, NodeId x, const Dim& count) {
                                                     return squares(b, x,
                                                                    sure_of(b.unary(Op::Tanh, x)),
                                                                    count);
                                                   },
                                                   false}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::generate
