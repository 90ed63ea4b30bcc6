#include "graph/cost.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::graph {

using tensor::DType;

struct CostCase {
  const char* name;
  std::function<Result<NodeId>(Builder&)> build;
  double flops, tensor_flops, read, write, gathered;
};

NodeId half(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::Fp16, std::move(shape));
}
NodeId single(Builder& b, const char* name, Shape shape) {
  return b.input(name, DType::Fp32, std::move(shape));
}
Result<NodeId> plus(Builder& b, NodeId x, NodeId y) {
  return b.binary(Op::Add, Operand::tensor(x), Operand::tensor(y));
}

std::vector<CostCase> cost_cases() {
  return {
      {"add",
       [](Builder& b) {
         const NodeId x = single(b, "x", {8, 16});
         return plus(b, x, single(b, "y", {8, 16}));
       },
       128, 0, 1024, 512, 0},
      {"add_row",
       [](Builder& b) {
         const NodeId x = single(b, "x", {8, 16});
         return plus(b, x, single(b, "y", {16}));
       },
       128, 0, 576, 512, 0},
      {"twice_the_same",
       [](Builder& b) {
         const NodeId x = single(b, "x", {8, 16});
         return plus(b, x, x);
       },
       128, 0, 512, 512, 0},
      // Per row: D squares, D - sum, D * 2 to scale and weigh, and 3 for the mean, eps and root.
      {"rms_norm",
       [](Builder& b) {
         const NodeId x = half(b, "x", {8, 16}), w = half(b, "w", {16});
         return rms_norm(b, x, {16}, w, 1e-6);
       },
       8 * (4 * 16 + 3), 0, 8 * 16 * 2 + 32, 8 * 16 * 2, 0},
      // Per row: max, subtract, exp, sum, divide.
      {"softmax",
       [](Builder& b) {
         return softmax(b, half(b, "x", {8, 16}), 1);
       },
       8 * 5 * 16, 0, 256, 256, 0},
      {"matmul",
       [](Builder& b) {
         const NodeId x = half(b, "x", {8, 16});
         return b.matmul(x, half(b, "y", {16, 32}));
       },
       2 * 8 * 16 * 32, 2 * 8 * 16 * 32, 2 * (8 * 16 + 16 * 32), 2 * 8 * 32, 0},
      {"linear",
       [](Builder& b) {
         const NodeId x = half(b, "x", {8, 16}), w = half(b, "w", {32, 16});
         return linear(b, x, w, half(b, "bias", {32}));
       },
       2 * 8 * 16 * 32 + 8 * 32, 2 * 8 * 16 * 32, 2 * (8 * 16 + 16 * 32 + 32), 2 * 8 * 32, 0},
      {"embedding",
       [](Builder& b) {
         const NodeId i = b.input("i", DType::Int64, {5});
         return embedding(b, i, half(b, "w", {1000, 16}));
       },
       0, 0, 5 * 8 + 5 * 16 * 2, 5 * 16 * 2, 5 * 16 * 2},
      {"embedding_of_few",
       [](Builder& b) {
         const NodeId i = b.input("i", DType::Int64, {500});
         return embedding(b, i, half(b, "w", {10, 16}));
       },
       0, 0, 500 * 8 + 10 * 16 * 2, 500 * 16 * 2, 10 * 16 * 2},
      {"slice",
       [](Builder& b) {
         return b.slice(single(b, "x", {8, 16}), 1, 2, 6);
       },
       0, 0, 128, 128, 0},
      {"stride",
       [](Builder& b) {
         return b.slice(single(b, "x", {8, 16}), 1, 1, 16, 2);
       },
       0, 0, 256, 256, 0},
      {"overlapping_slices",
       [](Builder& b) {
         const NodeId x = single(b, "x", {10});
         const NodeId left = b.slice(x, 0, 0, 3).value();
         return plus(b, left, b.slice(x, 0, 1, 4).value());
       },
       3, 0, 16, 12, 0},
      {"even_and_odd",
       [](Builder& b) {
         const NodeId x = single(b, "x", {10});
         const NodeId even = b.slice(x, 0, 0, 10, 2).value();
         return plus(b, even, b.slice(x, 0, 1, 10, 2).value());
       },
       5, 0, 40, 20, 0},
      {"halves",
       [](Builder& b) {
         const NodeId x = single(b, "x", {4, 12});
         const auto parts = chunk(b, x, 2, 1).value();
         return plus(b, parts[0], parts[1]);
       },
       24, 0, 192, 96, 0},
      {"one_of_three",
       [](Builder& b) {
         const NodeId x = single(b, "x", {4, 12});
         return b.unary(Op::Exp, chunk(b, x, 3, 1).value()[2]);
       },
       16, 0, 64, 64, 0},
      {"slice_behind_reshape",
       [](Builder& b) {
         const NodeId x = b.reshape(single(b, "x", {4, 12}), {4, 3, 4}).value();
         return select(b, x, 1, 2);
       },
       0, 0, 64, 64, 0},
      {"rows_behind_flatten",
       [](Builder& b) {
         const NodeId x = b.reshape(single(b, "x", {4, 5, 6}), {20, 6}).value();
         return b.slice(x, 0, 5, 10);
       },
       0, 0, 120, 120, 0},
      {"slice_behind_sum",
       [](Builder& b) {
         const NodeId sums = b.reduce(Op::Sum, single(b, "x", {8, 16}), {1}, false).value();
         return b.slice(sums, 0, 0, 2);
       },
       32, 0, 128, 8, 0},
      {"slice_behind_matmul",
       [](Builder& b) {
         const NodeId x = single(b, "x", {8, 16});
         const NodeId y = b.matmul(x, single(b, "y", {16, 32})).value();
         return b.slice(y, 1, 0, 4);
       },
       2 * 8 * 4 * 16, 2 * 8 * 4 * 16, 4 * (8 * 16 + 16 * 4), 4 * 8 * 4, 0},
      {"prefix_of_a_scan",
       [](Builder& b) { return b.slice(cumsum(b, single(b, "x", {16}), 0).value(), 0, 3, 4); }, 4,
       0, 16, 4, 0},
      {"suffix_of_a_reverse_scan",
       [](Builder& b) {
         const NodeId x = single(b, "x", {16});
         return b.slice(b.scan(Op::CumSum, x, 0, true).value(), 0, 12, 13);
       },
       4, 0, 16, 4, 0},
      {"kth_value_orders_everything",
       [](Builder& b) -> Result<NodeId> {
         return kthvalue(b, single(b, "x", {3, 5}), 2, 1, false).value().value;
       },
       15, 0, 60, 12, 0},
      {"padding_is_not_read",
       [](Builder& b) {
         return pad(b, single(b, "x", {4}), {2, 2}, PadMode::Constant, 0);
       },
       0, 0, 16, 32, 0},
      {"only_padding",
       [](Builder& b) {
         const NodeId wide = pad(b, single(b, "x", {4}), {2, 2}, PadMode::Constant, 0).value();
         return b.slice(wide, 0, 0, 2);
       },
       0, 0, 0, 8, 0},
      {"half_of_a_concat",
       [](Builder& b) {
         const NodeId x = single(b, "x", {4}), y = single(b, "y", {6});
         return b.slice(cat(b, {x, y}, 0).value(), 0, 3, 6);
       },
       0, 0, 12, 12, 0},
      {"flipped_end",
       [](Builder& b) {
         const NodeId x = single(b, "x", {16});
         const NodeId head = b.slice(x, 0, 0, 4).value();
         return plus(b, head, b.slice(flip(b, x, {0}).value(), 0, 12, 16).value());
       },
       4, 0, 16, 16, 0},
      {"scatter_add",
       [](Builder& b) {
         const NodeId x = single(b, "x", {10}), i = b.input("i", DType::Int64, {4});
         const NodeId s = single(b, "s", {4});
         return scatter(b, x, 0, i, Operand::tensor(s), ScatterMode::Add);
       },
       4, 0, 40 + 32 + 16, 40, 0},
      {"dead_code",
       [](Builder& b) -> Result<NodeId> {
         const NodeId x = single(b, "x", {16});
         (void)b.unary(Op::Exp, single(b, "unused", {99}));
         return b.unary(Op::Log, x);
       },
       16, 0, 64, 64, 0},
      {"integers_are_no_flops",
       [](Builder& b) {
         const NodeId x = b.input("x", DType::Int32, {16});
         return plus(b, x, x);
       },
       0, 0, 64, 64, 0},
      {"rank_0", [](Builder& b) { return b.unary(Op::Exp, single(b, "x", {})); }, 1, 0, 4, 4, 0},
      {"empty",
       [](Builder& b) {
         return b.unary(Op::Exp, single(b, "x", {0, 5}));
       },
       0, 0, 0, 0, 0},
      {"input_returned", [](Builder& b) -> Result<NodeId> { return single(b, "x", {5}); }, 0, 0, 20,
       20, 0},
  };
}

class Costs : public testing::TestWithParam<CostCase> {};

TEST_P(Costs, AreWhatCannotBeAvoided) {
  const CostCase& want = GetParam();
  Builder b;
  const auto y = want.build(b);
  ASSERT_TRUE(y) << y.error().message;
  const Cost cost = cost_of(std::move(b).finish({{"y", *y}}));
  EXPECT_EQ(cost.flops, want.flops);
  EXPECT_EQ(cost.tensor_flops, want.tensor_flops);
  EXPECT_EQ(cost.read_bytes, want.read);
  EXPECT_EQ(cost.write_bytes, want.write);
  EXPECT_EQ(cost.gathered_bytes, want.gathered);
}

INSTANTIATE_TEST_SUITE_P(Table, Costs, testing::ValuesIn(cost_cases()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Cost, HasAnIntensity) {
  Cost cost;
  cost.flops = 120;
  cost.read_bytes = 40;
  cost.write_bytes = 20;
  EXPECT_EQ(cost.intensity(), 2);
  EXPECT_EQ(Cost{}.intensity(), 0);
}

}  // namespace kw::graph
