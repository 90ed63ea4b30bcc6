#include "graph/cost.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.h"
#include "graph/compose_conv.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_pool.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::graph {

struct CostCase {
  const char* name;
  Result<NodeId> (*build)(Builder&);
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

Result<NodeId> conv2d(Builder& b, Shape x, Shape w, int64_t stride, int64_t pad,
                      int64_t dilation = 1, int64_t groups = 1) {
  const NodeId in = single(b, "x", std::move(x)), weight = single(b, "w", std::move(w));
  const Conv how{{stride, stride}, {dilation, dilation}, {pad, pad}, {pad, pad}, groups};
  return conv(b, in, weight, std::nullopt, how);
}
Result<NodeId> pool2d(Builder& b, int64_t extent, int64_t kernel, int64_t stride, int64_t pad = 0,
                      int64_t dilation = 1) {
  const Pool how{{kernel, kernel}, {stride, stride}, {pad, pad}, {dilation, dilation}};
  return max_pool(b, single(b, "x", {1, 3, extent, extent}), how);
}
Result<NodeId> transposed2d(Builder& b, int64_t pad) {
  const NodeId x = single(b, "x", {2, 6, 5, 5}), w = single(b, "w", {6, 4, 3, 3});
  return conv_transpose(b, x, w, std::nullopt, {{2, 2}, {1, 1}, {pad, pad}, {0, 0}});
}

// One multiply-add per output, input channel of the group and kernel element, including padding.
double conv_flops(double batch, double out, double places, double depth) {
  return 2 * batch * out * places * depth;
}

std::vector<CostCase> cost_cases() {
  return {
      {"conv",
       [](Builder& b) {
         return conv2d(b, {2, 6, 9, 9}, {8, 6, 3, 3}, 1, 1);
       },
       conv_flops(2, 8, 81, 54), conv_flops(2, 8, 81, 54), 4 * (2 * 6 * 81 + 8 * 54),
       4 * 2 * 8 * 81, 0},
      // No window reaches the last row and column.
      {"conv_strided",
       [](Builder& b) {
         return conv2d(b, {2, 6, 10, 10}, {8, 6, 3, 3}, 2, 0);
       },
       conv_flops(2, 8, 16, 54), conv_flops(2, 8, 16, 54), 4 * (2 * 6 * 81 + 8 * 54),
       4 * 2 * 8 * 16, 0},
      // Every second element in both dims.
      {"conv_1x1_strided",
       [](Builder& b) {
         return conv2d(b, {2, 6, 9, 9}, {8, 6, 1, 1}, 2, 0);
       },
       conv_flops(2, 8, 25, 6), conv_flops(2, 8, 25, 6), 4 * (2 * 6 * 25 + 8 * 6), 4 * 2 * 8 * 25,
       0},
      {"conv_dilated",
       [](Builder& b) {
         return conv2d(b, {1, 2, 9, 9}, {3, 2, 3, 3}, 1, 2, 2);
       },
       conv_flops(1, 3, 81, 18), conv_flops(1, 3, 81, 18), 4 * (2 * 81 + 3 * 18), 4 * 3 * 81, 0},
      {"conv_whole_kernel",
       [](Builder& b) {
         return conv2d(b, {1, 2, 7, 7}, {3, 2, 7, 7}, 1, 0);
       },
       conv_flops(1, 3, 1, 98), conv_flops(1, 3, 1, 98), 4 * (98 + 3 * 98), 4 * 3, 0},
      {"conv_depthwise",
       [](Builder& b) {
         return conv2d(b, {2, 6, 9, 9}, {6, 1, 3, 3}, 1, 1, 1, 6);
       },
       conv_flops(2, 6, 81, 9), conv_flops(2, 6, 81, 9), 4 * (2 * 6 * 81 + 6 * 9), 4 * 2 * 6 * 81,
       0},
      {"conv_grouped",
       [](Builder& b) {
         return conv2d(b, {2, 6, 9, 9}, {4, 3, 3, 3}, 1, 1, 1, 2);
       },
       conv_flops(2, 4, 81, 27), conv_flops(2, 4, 81, 27), 4 * (2 * 6 * 81 + 4 * 27),
       4 * 2 * 4 * 81, 0},
      // The products of the matching convolution, and one addition for each product.
      {"conv_transposed", [](Builder& b) { return transposed2d(b, 0); },
       2 * 2.0 * 6 * 25 * 4 * 9 + 2.0 * 4 * (25 * 9 + 11 * 5 * 3), 2 * 2.0 * 6 * 25 * 4 * 9,
       4 * (2 * 6 * 25 + 6 * 4 * 9), 4 * 2 * 4 * 121, 0},
      {"pool_overlapping", [](Builder& b) { return pool2d(b, 9, 3, 2); }, 3 * 16 * 9, 0, 4 * 3 * 81,
       4 * 3 * 16, 0},
      {"pool_padded", [](Builder& b) { return pool2d(b, 8, 3, 2, 1); }, 3 * 16 * 9, 0, 4 * 3 * 64,
       4 * 3 * 16, 0},
      // 4 windows of 2 in 20: 8 of every 20 rows and columns.
      {"pool_gaps", [](Builder& b) { return pool2d(b, 20, 2, 5); }, 3 * 16 * 4, 0, 4 * 3 * 64,
       4 * 3 * 16, 0},
      // 0, 3, 6 and 4, 7, 10 in each dim: six of eleven.
      {"pool_dilated_gaps", [](Builder& b) { return pool2d(b, 11, 3, 4, 0, 3); }, 3 * 4 * 9, 0,
       4 * 3 * 36, 4 * 3 * 4, 0},
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
      // Per row: D squares, D for the sum, 2 * D to scale and weight, and 3 for mean, eps and root.
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
