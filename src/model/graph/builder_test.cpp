#include "graph/builder.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/infer.h"

namespace kw::graph {

NodeId make_input(Builder& b, const Shape& shape, DType type = DType::Fp32) {
  return b.input("x", type, shape);
}

Result<NodeId> add_shapes(Builder& b, const Shape& x, const Shape& y) {
  return b.binary(Op::Add, Operand::tensor(make_input(b, x)), Operand::tensor(make_input(b, y)));
}

struct ShapeCase {
  const char* name;
  Result<NodeId> (*build)(Builder&);
  const char* want;  // "fp32[2, 3]", or the message of the Error
};

std::vector<ShapeCase> shape_cases() {
  static constexpr auto in = [](Builder& b, Shape shape) { return make_input(b, shape); };
  return {
      {"broadcast_rank",
       [](Builder& b) {
         return add_shapes(b, {2, 3}, {3});
       },
       "fp32[2, 3]"},
      {"broadcast_one",
       [](Builder& b) {
         return add_shapes(b, {2, 1, 3}, {4, 1});
       },
       "fp32[2, 4, 3]"},
      {"broadcast_rank_0",
       [](Builder& b) {
         return add_shapes(b, {2, 3}, {});
       },
       "fp32[2, 3]"},
      {"broadcast_empty",
       [](Builder& b) {
         return add_shapes(b, {0, 3}, {1, 3});
       },
       "fp32[0, 3]"},
      {"broadcast_mismatch",
       [](Builder& b) {
         return add_shapes(b, {2, 3}, {2, 4});
       },
       "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
      {"broadcast_mismatch_rank",
       [](Builder& b) {
         return add_shapes(b, {2, 3, 5}, {4, 5});
       },
       "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
      {"sum_last",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {2, 3}), {-1}, false);
       },
       "fp32[2]"},
      {"sum_keep",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {2, 3}), {0}, true);
       },
       "fp32[1, 3]"},
      {"sum_all",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {2, 3}), {}, false);
       },
       "fp32[]"},
      {"sum_rank_0", [](Builder& b) { return b.reduce(Op::Sum, in(b, {}), {-1}, false); },
       "fp32[]"},
      {"argmax_rank_0", [](Builder& b) { return b.reduce(Op::ArgMax, in(b, {}), {0}, false); },
       "int64[]"},
      {"sum_empty",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {0, 3}), {0}, false);
       },
       "fp32[3]"},
      {"max_empty",
       [](Builder& b) {
         return b.reduce(Op::Max, in(b, {0, 3}), {0}, false);
       },
       "max(): Expected reduction dim 0 to have non-zero size."},
      {"sum_dim_outside",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {2, 3}), {5}, false);
       },
       "Dimension out of range (expected to be in range of [-2, 1], but got 5)"},
      {"sum_dim_twice",
       [](Builder& b) {
         return b.reduce(Op::Sum, in(b, {2, 3}), {1, -1}, false);
       },
       "dim 1 appears multiple times in the list of dims"},
      {"cumsum",
       [](Builder& b) {
         return b.scan(Op::CumSum, in(b, {2, 3}), -1);
       },
       "fp32[2, 3]"},
      {"cumsum_rank_0", [](Builder& b) { return b.scan(Op::CumSum, in(b, {}), 0); }, "fp32[]"},
      {"cummax_exclusive",
       [](Builder& b) { return b.scan(Op::CumMax, in(b, {3}), 0, false, true); },
       "cum_max: the largest of no elements has no value"},
      {"matmul",
       [](Builder& b) {
         return b.matmul(in(b, {2, 3}), in(b, {3, 4}));
       },
       "fp32[2, 4]"},
      {"matmul_vectors", [](Builder& b) { return b.matmul(in(b, {3}), in(b, {3})); }, "fp32[]"},
      {"matmul_vector_left",
       [](Builder& b) {
         return b.matmul(in(b, {3}), in(b, {5, 3, 4}));
       },
       "fp32[5, 4]"},
      {"matmul_vector_right",
       [](Builder& b) {
         return b.matmul(in(b, {5, 2, 3}), in(b, {3}));
       },
       "fp32[5, 2]"},
      {"matmul_folds",
       [](Builder& b) {
         return b.matmul(in(b, {5, 2, 3}), in(b, {3, 4}));
       },
       "fp32[5, 2, 4]"},
      {"matmul_batches",
       [](Builder& b) {
         return b.matmul(in(b, {6, 1, 2, 3}), in(b, {5, 3, 4}));
       },
       "fp32[6, 5, 2, 4]"},
      {"matmul_mismatch",
       [](Builder& b) {
         return b.matmul(in(b, {2, 3}), in(b, {4, 5}));
       },
       "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"},
      {"matmul_vector_mismatch", [](Builder& b) { return b.matmul(in(b, {3}), in(b, {4})); },
       "inconsistent tensor size, expected tensor [3] and src [4] to have the same number of "
       "elements, but got 3 and 4 elements respectively"},
      {"matmul_rank_0",
       [](Builder& b) {
         return b.matmul(in(b, {2, 3}), in(b, {}));
       },
       "both arguments to matmul need to be at least 1D, but they are 2D and 0D"},
      {"matmul_dtypes",
       [](Builder& b) {
         return b.matmul(in(b, {2, 3}), make_input(b, {3, 3}, DType::Fp16));
       },
       "expected m1 and m2 to have the same dtype, but got: Float != Half"},
      {"matmul_inner_0",
       [](Builder& b) {
         return b.matmul(in(b, {2, 0}), in(b, {0, 3}));
       },
       "fp32[2, 3]"},
      {"reshape",
       [](Builder& b) {
         return b.reshape(in(b, {2, 6}), {3, -1});
       },
       "fp32[3, 4]"},
      {"reshape_wrong",
       [](Builder& b) {
         return b.reshape(in(b, {2, 3}), {4, 2});
       },
       "shape '[4, 2]' is invalid for input of size 6"},
      {"reshape_uneven",
       [](Builder& b) {
         return b.reshape(in(b, {2, 3}), {-1, 4});
       },
       "shape '[-1, 4]' is invalid for input of size 6"},
      {"reshape_two_open",
       [](Builder& b) {
         return b.reshape(in(b, {2, 3}), {-1, -1});
       },
       "only one dimension can be inferred"},
      {"reshape_negative",
       [](Builder& b) {
         return b.reshape(in(b, {2, 3}), {-2, 3});
       },
       "invalid shape dimension -2"},
      {"reshape_empty",
       [](Builder& b) {
         return b.reshape(in(b, {0, 3}), {0, -1});
       },
       "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension "
       "size -1 can be any value"},
      {"permute",
       [](Builder& b) {
         return b.permute(in(b, {2, 3, 4}), {2, 0, -2});
       },
       "fp32[4, 2, 3]"},
      {"permute_short",
       [](Builder& b) {
         return b.permute(in(b, {2, 3}), {0});
       },
       "permute(): number of dimensions in the tensor input does not match the length of the "
       "desired ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 1"},
      {"permute_twice",
       [](Builder& b) {
         return b.permute(in(b, {2, 3}), {0, -2});
       },
       "permute(): duplicate dims are not allowed."},
      {"expand",
       [](Builder& b) {
         return b.expand(in(b, {3, 1}), {2, -1, 4});
       },
       "fp32[2, 3, 4]"},
      {"expand_wrong",
       [](Builder& b) {
         return b.expand(in(b, {2, 3}), {2, 4});
       },
       "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
       "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]"},
      {"expand_short",
       [](Builder& b) {
         return b.expand(in(b, {2, 3}), {3});
       },
       "expand(): the number of sizes provided (1) must be greater or equal to the number of "
       "dimensions in the tensor (2)"},
      {"expand_new_open",
       [](Builder& b) {
         return b.expand(in(b, {3}), {-1, 3});
       },
       "expand(): invalid size -1 in [-1, 3]"},
      {"slice",
       [](Builder& b) {
         return b.slice(in(b, {2, 10}), 1, 1, 8, 3);
       },
       "fp32[2, 3]"},
      {"slice_outside",
       [](Builder& b) {
         return b.slice(in(b, {2, 10}), 1, 1, 12, 1);
       },
       "slice: dim 1 reaches outside of its 10 elements"},
      {"slice_backwards", [](Builder& b) { return b.slice(in(b, {10}), 0, 0, 10, -1); },
       "slice: steps must be positive"},
      {"too_many_elements",
       [](Builder& b) {
         return b.expand(in(b, {1}), {int64_t{1} << 40, int64_t{1} << 40, 1});
       },
       "more elements"},
      {"where_condition",
       [](Builder& b) { return b.where(in(b, {2}), Operand::of(1), Operand::of(2)); },
       "where expected condition to be a boolean tensor, but got a tensor with dtype Float"},
      {"negate_bool", [](Builder& b) { return b.unary(Op::Neg, make_input(b, {2}, DType::Bool)); },
       "on a bool tensor is not supported"},
  };
}

class BuilderShapes : public testing::TestWithParam<ShapeCase> {};

TEST_P(BuilderShapes, AreInferredOrRefusedInPyTorchsWords) {
  Builder b;
  const auto result = GetParam().build(b);
  if (!result) {
    EXPECT_EQ(result.error().blame, Blame::Input);
    EXPECT_NE(result.error().message.find(GetParam().want), std::string::npos)
        << result.error().message;
    return;
  }
  EXPECT_EQ(signature_text(b.dtype(*result), b[*result].shape), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Table, BuilderShapes, testing::ValuesIn(shape_cases()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Builder, GuardsWhatRestedOnASymbolicExtent) {
  const auto guards_of = [](const Shape& x, const Shape& y) {
    Builder b;
    const NodeId sum = add_shapes(b, x, y).value();
    const Graph graph = std::move(b).finish({{"y", sum}});
    return std::pair(graph.guards, shape_text(graph[sum].shape));
  };
  using Guards = std::vector<std::string>;
  const Dim d = Dim::symbol("D", 5), e = Dim::symbol("E", 5), one = Dim::symbol("B", 1);
  EXPECT_EQ(guards_of({d}, {d}), std::pair(Guards{}, std::string("[D]")));
  EXPECT_EQ(guards_of({d}, {1}), std::pair(Guards{}, std::string("[D]")));
  EXPECT_EQ(guards_of({1}, {one}), std::pair(Guards{}, std::string("[B]")));
  EXPECT_EQ(guards_of({d}, {e}), std::pair(Guards{"D == E"}, std::string("[D]")));
  EXPECT_EQ(guards_of({d}, {5}), std::pair(Guards{"D == 5"}, std::string("[5]")));
  EXPECT_EQ(guards_of({one}, {d}), std::pair(Guards{"B == 1"}, std::string("[D]")));
}

TEST(Builder, GuardsReshapesThatOnlyFitByValue) {
  Builder b;
  const Dim d = Dim::symbol("D", 12);
  const NodeId x = b.input("x", DType::Fp32, {d});
  const NodeId even = b.reshape(x, {3, -1}).value();
  EXPECT_EQ(shape_text(b[even].shape), "[3, (D / 3)]");
  const NodeId same = b.reshape(even, {-1}).value();
  EXPECT_EQ(shape_text(b[same].shape), "[3 * (D / 3)]");
  const Graph graph = std::move(b).finish({{"y", same}});
  EXPECT_EQ(graph.guards, (std::vector<std::string>{"D % 3 == 0"}));
}

TEST(Builder, AddsNoNodeWhereNothingChanges) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp16, {2, 3});
  EXPECT_EQ(b.cast(x, DType::Fp16), x);
  EXPECT_EQ(*b.reshape(x, {2, 3}), x);
  EXPECT_EQ(*b.permute(x, {0, 1}), x);
  EXPECT_EQ(*b.expand(x, {-1, 3}), x);
  EXPECT_EQ(*b.slice(x, 1, 0, 3), x);
  EXPECT_EQ(std::move(b).finish({{"y", x}}).nodes.size(), 1U);
}

TEST(Builder, MarksEveryNodeWithItsOrigin) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {2, 3});
  b.at("x * 2", 7, 12);
  const NodeId y = b.binary(Op::Mul, Operand::tensor(x), Operand::of(2)).value();
  EXPECT_EQ(b[x].line, 0);
  for (NodeId id = x + 1; id <= y; ++id) {
    EXPECT_EQ(b[id].origin, "x * 2");
    EXPECT_EQ(b[id].line, 7);
    EXPECT_EQ(b[id].column, 12);
  }
}

TEST(Builder, KeepsTheTextOfANumberThatFollowsFromDims) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {Dim::symbol("D", 8)});
  const NodeId y = b.binary(Op::Div, Operand::tensor(x), Operand::of(b.extent(x, 0) * 2)).value();
  const Graph graph = std::move(b).finish({{"y", y}});
  EXPECT_NE(print(graph).find("fp32[] = constant(2 * D)"), std::string::npos) << print(graph);
  EXPECT_EQ(graph[1].attrs.number, 16);
}

TEST(Builder, FoldsABatchIntoOneTallProduct) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp16, {5, 2, 3}), w = b.input("w", DType::Fp16, {3, 4});
  const NodeId y = b.matmul(x, w).value();
  EXPECT_EQ(b[y].op, Op::Reshape);
  EXPECT_EQ(shape_text(b[b[y].inputs[0]].shape), "[10, 4]");
}

}  // namespace kw::graph
