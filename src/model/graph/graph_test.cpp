#include "graph/graph.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/builder.h"

namespace kw::graph {

// y = sum(exp(x), dim 1) as fp16, and an index into it.
Graph sample() {
  Builder b;
  b.at("softmax", 4, 1);
  const NodeId x = b.input("x", DType::Fp32, {Dim::symbol("B", 4), Dim::symbol("D", 6)});
  const NodeId i = b.input("i", DType::Int64, {4, 1});
  const NodeId e = b.unary(Op::Exp, x).value();                                        // 2
  const NodeId s = b.reduce(Op::Sum, e, {1}, true).value();                            // 3
  const NodeId w = b.expand(s, {b.extent(x, 0), b.extent(x, 1)}).value();              // 4
  const NodeId q = b.binary(Op::Div, Operand::tensor(e), Operand::tensor(w)).value();  // 5
  Node gather{Op::Gather, {q, i}, DType::Fp32, {}, {}, "", 0, 0};
  gather.attrs.dims = {1};
  const NodeId g = b.add(gather).value();                                 // 6
  const NodeId p = b.slice(q, 1, 1, 5, 2).value();                        // 7
  const NodeId m = b.matmul(p, b.permute(p, {1, 0}).value()).value();     // 8: permute, 9
  return std::move(b).finish({{"y", b.cast(m, DType::Fp16)}, {"g", g}});  // 10
}

TEST(Graph, PrintsOneLinePerNode) {
  Graph graph = sample();
  graph.guards = {"D > 5"};
  EXPECT_EQ(print(graph),
            "%0: fp32[B, D] = input(x)  # softmax, line 4\n"
            "%1: int64[4, 1] = input(i)  # softmax, line 4\n"
            "%2: fp32[B, D] = exp(%0)  # softmax, line 4\n"
            "%3: fp32[B, 1] = sum(%2) dims=[1]  # softmax, line 4\n"
            "%4: fp32[B, D] = expand(%3)  # softmax, line 4\n"
            "%5: fp32[B, D] = div(%2, %4)  # softmax, line 4\n"
            "%6: fp32[4, 1] = gather(%5, %1) dims=[1]  # softmax, line 4\n"
            "%7: fp32[B, 2] = slice(%5) starts=[0, 1] steps=[1, 2]  # softmax, line 4\n"
            "%8: fp32[2, B] = permute(%7) dims=[1, 0]  # softmax, line 4\n"
            "%9: fp32[B, B] = mat_mul(%7, %8)  # softmax, line 4\n"
            "%10: fp16[B, B] = cast(%9)  # softmax, line 4\n"
            "guard D > 5\n"
            "return y = %10\n"
            "return g = %6\n");
}

TEST(Graph, VerifiesWhatTheBuilderMade) {
  const auto ok = verify(sample());
  EXPECT_TRUE(ok) << ok.error().message;
}

struct Break {
  const char* name;
  void (*change)(Graph&);
  const char* want;
};

const Break kBreaks[] = {
    {"arity", [](Graph& g) { g.nodes[2].inputs.push_back(0); }, "%2: exp: has 2 inputs, needs 1"},
    {"forward_input", [](Graph& g) { g.nodes[2].inputs[0] = 3; }, "%2: exp: input %3 does not"},
    {"own_input", [](Graph& g) { g.nodes[2].inputs[0] = 2; }, "%2: exp: input %2 does not"},
    {"negative_input", [](Graph& g) { g.nodes[2].inputs[0] = -1; }, "input %-1 does not exist"},
    {"dtype", [](Graph& g) { g.nodes[2].dtype = DType::Fp16; }, "%2: exp: is fp16[B, D], must be"},
    {"shape",
     [](Graph& g) {
       g.nodes[2].shape = {4, 5};
     },
     "%2: exp: is fp32[4, 5], must be"},
    {"rank", [](Graph& g) { g.nodes[2].shape = {24}; }, "must be fp32[B, D]"},
    {"no_such_op", [](Graph& g) { g.nodes[2].op = static_cast<Op>(250); }, "does not exist"},
    {"reduce_dim", [](Graph& g) { g.nodes[3].attrs.dims = {2}; }, "outside of rank 2"},
    {"reduce_negative_dim", [](Graph& g) { g.nodes[3].attrs.dims = {-1}; }, "outside of rank 2"},
    {"reduce_dim_twice",
     [](Graph& g) {
       g.nodes[3].attrs.dims = {1, 1};
     },
     "appears twice"},
    {"reduce_nothing", [](Graph& g) { g.nodes[3].attrs.dims = {}; }, "needs a dim"},
    {"reduce_drops_dim", [](Graph& g) { g.nodes[3].shape = {4}; }, "must be fp32[B, 1]"},
    {"expand_other",
     [](Graph& g) {
       g.nodes[4].shape = {5, 6};
     },
     "%4: expand: [B, 1] to [5, 6]"},
    {"expand_shrinks", [](Graph& g) { g.nodes[4].shape = {6}; }, "cannot lose dims"},
    {"mixed_dtypes", [](Graph& g) { g.nodes[5].inputs[1] = 1; }, "%5: div: shapes"},
    {"mixed_shapes", [](Graph& g) { g.nodes[5].inputs[1] = 3; }, "shapes [B, D] and [B, 1] differ"},
    {"index_dtype", [](Graph& g) { g.nodes[6].inputs[1] = 3; }, "the index must be int64"},
    {"index_extents",
     [](Graph& g) {
       g.nodes[1].shape = {3, 1};
     },
     "the index differs in dim 0"},
    {"gather_two_dims",
     [](Graph& g) {
       g.nodes[6].attrs.dims = {0, 1};
     },
     "exactly one dim"},
    {"slice_start", [](Graph& g) { g.nodes[7].attrs.starts[1] = -1; }, "reaches outside"},
    {"slice_end", [](Graph& g) { g.nodes[7].attrs.starts[1] = 4; }, "reaches outside"},
    {"slice_step", [](Graph& g) { g.nodes[7].attrs.steps[1] = 0; }, "steps must be positive"},
    {"slice_attrs", [](Graph& g) { g.nodes[7].attrs.steps = {}; }, "0 steps for 2 dims"},
    {"permute_dims", [](Graph& g) { g.nodes[8].attrs.dims = {0}; }, "1 places for 2 dims"},
    {"permute_same",
     [](Graph& g) {
       g.nodes[8].attrs.dims = {1, 1};
     },
     "appears twice"},
    {"matmul_inner", [](Graph& g) { g.nodes[9].inputs[1] = 7; }, "mat_mul: [B, 2] by [B, 2]"},
    {"matmul_dtypes", [](Graph& g) { g.nodes[9].inputs[1] = 1; }, "dtypes fp32 and int64 differ"},
    {"input_not_listed", [](Graph& g) { g.inputs.pop_back(); }, "not among the graph's inputs"},
    {"input_swapped", [](Graph& g) { std::swap(g.inputs[0], g.inputs[1]); }, "is not input node 0"},
    {"input_is_no_input", [](Graph& g) { g.inputs[0].node = 2; }, "input 'x' is not input node 0"},
    {"input_number", [](Graph& g) { g.nodes[0].attrs.integer = 7; }, "is not input node 0"},
    {"input_names", [](Graph& g) { g.inputs[1].name = "x"; }, "two inputs are called 'x'"},
    {"output_outside", [](Graph& g) { g.outputs[0].node = 11; }, "which does not exist"},
    {"output_negative", [](Graph& g) { g.outputs[0].node = -1; }, "which does not exist"},
    {"output_unnamed", [](Graph& g) { g.outputs[0].name = ""; }, "an output has no name"},
    {"output_names", [](Graph& g) { g.outputs[1].name = "y"; }, "two outputs are called 'y'"},
    {"no_outputs", [](Graph& g) { g.outputs.clear(); }, "the graph has no outputs"},
    {"negative_extent",
     [](Graph& g) {
       g.nodes[1].shape = {-1, 1};
     },
     "negative"},
    {"exp_of_integers", [](Graph& g) { g.nodes[0].dtype = DType::Int32; }, "exp: needs floats"},
    {"constant_with_shape",
     [](Graph& g) {
       g.nodes[2] = {Op::Constant, {}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "constant: must have rank 0"},
    {"constant_expression",
     [](Graph& g) {
       g.nodes[2] = {Op::Constant, {}, DType::Fp32, {}, {}, "", 0, 0};
       g.nodes[2].attrs.starts = {Dim::symbol("D", 6)};
       g.nodes[2].attrs.number = 5;
     },
     "constant: its number is not its expression's value"},
    {"iota_without_dim",
     [](Graph& g) {
       g.nodes[2] = {Op::Iota, {}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "iota: needs exactly one dim"},
    {"pad_cuts",
     [](Graph& g) {
       g.nodes[2] = {Op::Pad, {0}, DType::Fp32, {4, 5}, {}, "", 0, 0};
       g.nodes[2].attrs.starts = {0, 0};
     },
     "pad: dim 1 would be cut"},
    // Node 0 is [B, D] of 4 x 6.
    {"window_outside",
     [](Graph& g) {
       g.nodes[2] = {Op::Window, {0}, DType::Fp32, {4, 3, 3}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
       g.nodes[2].attrs.steps = {2, 1};
     },
     "windows reach outside of the 6 elements of dim 1"},
    {"window_steps",
     [](Graph& g) {
       g.nodes[2] = {Op::Window, {0}, DType::Fp32, {4, 2, 3}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
       g.nodes[2].attrs.steps = {2, 0};
     },
     "steps must be positive"},
    {"window_rank",
     [](Graph& g) {
       g.nodes[2] = {Op::Window, {0}, DType::Fp32, {4, 2}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
       g.nodes[2].attrs.steps = {2, 1};
     },
     "window: "},
    {"fold_outside",
     [](Graph& g) {
       g.nodes[2] = {Op::Fold, {0}, DType::Fp32, {8}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {0};
       g.nodes[2].attrs.steps = {1, 1};
     },
     "windows reach outside of the 8 elements of dim 0"},
    {"concat_nothing",
     [](Graph& g) {
       g.nodes[2] = {Op::Concat, {}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "concat: needs an input"},
    {"reshape_count",
     [](Graph& g) {
       g.nodes[2] = {Op::Reshape, {0}, DType::Fp32, {4, 7}, {}, "", 0, 0};
     },
     "reshape: [B, D] to [4, 7]"},
    {"top_k_too_many",
     [](Graph& g) {
       g.nodes[2] = {Op::TopKValues, {0}, DType::Fp32, {4, 7}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
     },
     "k must not exceed the extent of the dim"},
    {"philox_seed",
     [](Graph& g) {
       g.nodes[2] = {Op::Philox, {0, 1}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "seed and offset are int64 of rank 0"},
    {"where_condition",
     [](Graph& g) {
       g.nodes[2] = {Op::Where, {0, 0, 0}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "the condition must be bool"},
    {"scatter_source",
     [](Graph& g) {
       g.nodes[2] = {Op::Scatter, {0, 1, 0}, DType::Fp32, {4, 6}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
     },
     "scatter: shapes [4, 1] and [B, D] differ"},
    {"and_of_floats",
     [](Graph& g) {
       g.nodes[2] = {Op::And, {0, 0}, DType::Fp32, {4, 6}, {}, "", 0, 0};
     },
     "and: needs bool or integers"},
    {"index_select_rank",
     [](Graph& g) {
       g.nodes[2] = {Op::IndexSelect, {0, 1}, DType::Fp32, {4, 6}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
     },
     "the index must have rank 1"},
    {"exclusive_maximum",
     [](Graph& g) {
       g.nodes[2] = {Op::CumMax, {0}, DType::Fp32, {4, 6}, {}, "", 0, 0};
       g.nodes[2].attrs.dims = {1};
       g.nodes[2].attrs.exclusive = true;
     },
     "the largest of no elements"},
};

class Broken : public testing::TestWithParam<Break> {};

TEST_P(Broken, IsRefusedAsABug) {
  Graph graph = sample();
  GetParam().change(graph);
  const auto ok = verify(graph);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().blame, Blame::Bug);
  EXPECT_NE(ok.error().message.find(GetParam().want), std::string::npos) << ok.error().message;
}

INSTANTIATE_TEST_SUITE_P(Table, Broken, testing::ValuesIn(kBreaks),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Simplify, DropsWhatNoOutputNeeds) {
  Graph graph = sample();
  graph.outputs = {{"g", 6}};
  const Graph less = simplify(graph);
  EXPECT_TRUE(verify(less));
  EXPECT_EQ(less.nodes.size(), 7U);
  EXPECT_EQ(less.inputs.size(), 2U);
}

TEST(Simplify, KeepsInputsNobodyReads) {
  Graph graph = sample();
  graph.outputs = {{"y", 3}};
  const Graph less = simplify(graph);
  EXPECT_TRUE(verify(less));
  EXPECT_EQ(less.inputs[1].name, "i");
  EXPECT_EQ(less[less.inputs[1].node].op, Op::Input);
}

TEST(Simplify, MergesEqualNodesOnly) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {8});
  const auto scaled = [&](double by) {
    return b.binary(Op::Mul, Operand::tensor(x), Operand::of(by)).value();
  };
  const NodeId first = scaled(2), same = scaled(2), other = scaled(3), zero = scaled(0.0),
               minus_zero = scaled(-0.0);
  const Graph graph = simplify(std::move(b).finish(
      {{"a", first}, {"b", same}, {"c", other}, {"d", zero}, {"e", minus_zero}}));
  EXPECT_TRUE(verify(graph));
  EXPECT_EQ(graph.outputs[0].node, graph.outputs[1].node);
  EXPECT_NE(graph.outputs[0].node, graph.outputs[2].node);
  EXPECT_NE(graph.outputs[3].node, graph.outputs[4].node);
}

TEST(Simplify, TellsEqualValuesOfDifferentDimsApart) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {});
  const NodeId one = b.expand(x, {Dim::symbol("B", 4)}).value();
  const NodeId two = b.expand(x, {Dim::symbol("D", 4)}).value();
  const Graph graph = simplify(std::move(b).finish({{"a", one}, {"b", two}}));
  EXPECT_NE(graph.outputs[0].node, graph.outputs[1].node);
}

TEST(Simplify, RemovesConversionsThatLoseNothing) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp16, {4, 6});
  const NodeId back = b.cast(b.cast(x, DType::Fp32), DType::Fp16);
  const NodeId w = b.input("w", DType::Fp32, {4, 6});
  const NodeId rounded = b.cast(b.cast(w, DType::Fp16), DType::Fp32);
  const Graph graph = simplify(std::move(b).finish({{"a", back}, {"b", rounded}}));
  EXPECT_TRUE(verify(graph));
  EXPECT_EQ(graph[graph.outputs[0].node].op, Op::Input);
  EXPECT_EQ(graph[graph.outputs[1].node].op, Op::Cast);  // the cast to fp16 rounds
  EXPECT_EQ(graph.nodes.size(), 4U);
}

TEST(Simplify, JoinsReshapes) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {4, 6});
  const NodeId flat = b.reshape(x, {24}).value();
  const NodeId other = b.reshape(flat, {8, 3}).value();
  const NodeId back = b.reshape(flat, {4, 6}).value();
  const Graph graph = simplify(std::move(b).finish({{"a", other}, {"b", back}}));
  EXPECT_TRUE(verify(graph));
  EXPECT_EQ(graph[graph.outputs[0].node].inputs[0], 0);
  EXPECT_EQ(graph.outputs[1].node, 0);
  EXPECT_EQ(graph.nodes.size(), 2U);
}

TEST(Ops, HaveOneNameEach) {
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_EQ(op_from_name(op_info(op).name), op) << i;
  }
  EXPECT_FALSE(op_from_name("softmax"));
  EXPECT_STREQ(op_info(Op::CumMaxIndex).name, "cum_max_index");
  EXPECT_STREQ(op_info(Op::Scatter).name, "scatter");
  EXPECT_EQ(op_info(Op::ShiftRight).kind, OpKind::Pointwise);
  EXPECT_TRUE(op_info(Op::Round).discontinuous);
}

}  // namespace kw::graph
