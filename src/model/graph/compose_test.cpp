#include <gtest/gtest.h>

#include "core/golden.h"

#include <functional>

#include "graph/builder.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_norm.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"
#include "graph/test_inputs.h"

namespace kw::graph {

using test::dim_b;
using test::dim_d;
using test::Inputs;
using test::kInf;

struct Golden {
  const char* family;  // the golden file
  const char* name;
  Result<NodeId> (*build)(Builder&, Inputs);
};

std::vector<Golden> reductions() {
  return {
      {"reduce", "mean_fp16",
       [](Builder& b, Inputs in) {
         return mean(b, in.half("x", {dim_b(), dim_d()}), {1}, false);
       }},
      {"reduce", "sum_fp16_as_fp32",
       [](Builder& b, Inputs in) {
         return sum(b, in.half("x", {dim_b(), dim_d()}), {}, false, DType::Fp32);
       }},
      {"reduce", "var_fp16",
       [](Builder& b, Inputs in) {
         return var(b, in.half("x", {dim_b(), dim_d()}), {1}, 1, true);
       }},
      {"reduce", "std_of_one",
       [](Builder& b, Inputs in) {
         return standard_deviation(b, in.single("x", {1}), {}, 1, false);
       }},
      {"reduce", "norm_2_fp16",
       [](Builder& b, Inputs in) {
         return vector_norm(b, in.half("x", {dim_b(), dim_d()}), 2, {1}, false);
       }},
      {"reduce", "norm_inf_fp16",
       [](Builder& b, Inputs in) {
         return vector_norm(b, in.half("x", {dim_b(), dim_d()}), kInf, {1}, false);
       }},
      {"reduce", "norm_3",
       [](Builder& b, Inputs in) {
         return vector_norm(b, in.single("x", {dim_b(), dim_d()}), 3, {}, false);
       }},
      {"reduce", "logsumexp_fp16",
       [](Builder& b, Inputs in) {
         return logsumexp(b, in.half("x", {dim_b(), dim_d()}), {1}, false);
       }},
      {"reduce", "argmax_of_all",
       [](Builder& b, Inputs in) {
         return argmax(b, in.single("x", {dim_b(), dim_d()}), {}, false);
       }},
      {"reduce", "any",
       [](Builder& b, Inputs in) {
         return any(b, in.single("x", {dim_b(), dim_d()}), {1}, false);
       }},
      {"reduce", "cosine_similarity",
       [](Builder& b, Inputs in) {
         const NodeId x = in.single("x", {dim_b(), dim_d()});
         return cosine_similarity(b, x, in.single("y", {dim_b(), dim_d()}), 1, 1e-8);
       }},
  };
}

std::vector<Golden> norms() {
  return {
      {"norm", "softmax_fp16",
       [](Builder& b, Inputs in) {
         return softmax(b, in.half("x", {dim_b(), dim_d()}), -1);
       }},
      {"norm", "softmax_as_fp32",
       [](Builder& b, Inputs in) {
         return softmax(b, in.half("x", {dim_b(), dim_d()}), -1, DType::Fp32);
       }},
      {"norm", "log_softmax",
       [](Builder& b, Inputs in) {
         return log_softmax(b, in.single("x", {dim_b(), dim_d()}), 1);
       }},
      {"norm", "layer_norm_fp16",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {dim_b(), dim_d()}), w = in.half("w", {dim_d()});
         return layer_norm(b, x, {dim_d()}, w, in.half("bias", {dim_d()}), 1e-5);
       }},
      {"norm", "rms_norm_bf16",
       [](Builder& b, Inputs in) {
         const NodeId x = b.input("x", DType::Bf16, {dim_b(), dim_d()});
         return rms_norm(b, x, {dim_d()}, in.single("w", {dim_d()}), {});
       }},
      {"norm", "group_norm",
       [](Builder& b, Inputs in) {
         const NodeId x = in.single("x", {dim_b(), dim_d(), 5}), w = in.single("w", {dim_d()});
         return group_norm(b, x, 3, w, in.single("bias", {dim_d()}), 1e-5);
       }},
      {"norm", "batch_norm_training",
       [](Builder& b, Inputs in) {
         ChannelNorm norm;
         const NodeId x = in.half("x", {dim_b(), 3, dim_d()});
         norm.weight = in.single("w", {3});
         norm.training = true;
         return batch_norm(b, x, norm);
       }},
      {"norm", "batch_norm_eval",
       [](Builder& b, Inputs in) {
         ChannelNorm norm;
         const NodeId x = in.single("x", {dim_b(), 3});
         norm.running_mean = in.single("mean", {3});
         norm.running_var = in.single("var", {3});
         return batch_norm(b, x, norm);
       }},
      {"norm", "instance_norm",
       [](Builder& b, Inputs in) {
         ChannelNorm norm;
         norm.training = true;
         return instance_norm(b, in.single("x", {dim_b(), 3, dim_d()}), norm);
       }},
  };
}

std::vector<Golden> scans() {
  return {
      {"scan", "cumsum_int32",
       [](Builder& b, Inputs) {
         return cumsum(b, b.input("x", DType::Int32, {dim_b(), dim_d()}), 1);
       }},
      {"scan", "cummax_index",
       [](Builder& b, Inputs in) -> Result<NodeId> {
         return cummax(b, in.single("x", {dim_b(), dim_d()}), 1).value().index;
       }},
      {"scan", "logcumsumexp",
       [](Builder& b, Inputs in) {
         return logcumsumexp(b, in.half("x", {Dim::symbol("N", 3)}), 0);
       }},
      {"scan", "topk_indices",
       [](Builder& b, Inputs in) -> Result<NodeId> {
         return topk(b, in.single("x", {dim_b(), dim_d()}), 3, -1, true).value().index;
       }},
      {"scan", "kthvalue",
       [](Builder& b, Inputs in) -> Result<NodeId> {
         return kthvalue(b, in.single("x", {dim_b(), dim_d()}), 2, 1, false).value().value;
       }},
      {"scan", "median",
       [](Builder& b, Inputs in) -> Result<NodeId> {
         return median(b, in.single("x", {dim_b(), dim_d()}), 1, false).value().index;
       }},
  };
}

std::vector<Golden> products() {
  return {
      {"matmul", "linear_fp16",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, dim_b(), dim_d()}), w = in.half("w", {8, dim_d()});
         return linear(b, x, w, in.half("bias", {8}));
       }},
      {"matmul", "addmm",
       [](Builder& b, Inputs in) {
         const NodeId i = in.single("i", {8}), x = in.single("x", {dim_b(), dim_d()});
         return addmm(b, i, x, in.single("y", {dim_d(), 8}), {Operand::of(0.5), Operand::of(2.0)});
       }},
      {"matmul", "baddbmm_without_input",
       [](Builder& b, Inputs in) {
         const NodeId i = in.half("i", {2, dim_b(), 8}), x = in.half("x", {2, dim_b(), dim_d()});
         return baddbmm(b, i, x, in.half("y", {2, dim_d(), 8}), {Operand::of(0), Operand::of(1)});
       }},
      {"matmul", "dot",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {dim_d()});
         return dot(b, x, in.half("y", {dim_d()}));
       }},
  };
}

std::vector<Golden> moves() {
  return {
      {"move", "second_chunk",
       [](Builder& b, Inputs in) -> Result<NodeId> {
         return chunk(b, in.single("x", {dim_b(), dim_d()}), 2, -1).value()[1];
       }},
      {"move", "glu_halves_meet",
       [](Builder& b, Inputs in) {
         const auto parts = chunk(b, in.single("x", {dim_b(), dim_d()}), 2, -1).value();
         return b.binary(Op::Mul, Operand::tensor(parts[0]), Operand::tensor(parts[1]));
       }},
      {"move", "last_two",
       [](Builder& b, Inputs in) {
         return slice_range(b, in.single("x", {dim_b(), dim_d()}), 1, Dim(-2), {}, 1);
       }},
      {"move", "every_other",
       [](Builder& b, Inputs in) {
         return slice_range(b, in.single("x", {dim_d()}), 0, {}, {}, 2);
       }},
      {"move", "select_last",
       [](Builder& b, Inputs in) {
         return select(b, in.single("x", {dim_b(), dim_d()}), 1, -1);
       }},
      {"move", "cat_promotes",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {dim_b(), dim_d()});
         return cat(b, {x, in.single("y", {dim_b(), 2})}, 1);
       }},
      {"move", "roll",
       [](Builder& b, Inputs in) {
         return roll(b, in.single("x", {dim_b(), dim_d()}), {1}, {1});
       }},
      {"move", "roll_back",
       [](Builder& b, Inputs in) {
         return roll(b, in.single("x", {dim_b(), dim_d()}), {-2}, {1});
       }},
      {"move", "pad_reflect",
       [](Builder& b, Inputs in) {
         return pad(b, in.single("x", {dim_b(), dim_d()}), {1, 2}, PadMode::Reflect, 0);
       }},
      {"move", "pad_constant",
       [](Builder& b, Inputs in) {
         return pad(b, in.single("x", {dim_b(), dim_d()}), {1, 2, 0, 1}, PadMode::Constant, 0.1);
       }},
      {"move", "repeat",
       [](Builder& b, Inputs in) {
         return repeat(b, in.single("x", {dim_d()}), {2, 3});
       }},
      {"move", "tril",
       [](Builder& b, Inputs in) {
         return tril(b, in.half("x", {dim_b(), dim_d(), dim_d()}), -1);
       }},
      {"move", "diagonal",
       [](Builder& b, Inputs in) {
         return diagonal(b, in.half("x", {dim_b(), dim_d()}), 1, 0, 1);
       }},
      {"move", "diag_embed",
       [](Builder& b, Inputs in) {
         return diag_embed(b, in.single("x", {dim_b(), dim_d()}), 1, -2, -1);
       }},
  };
}

std::vector<Golden> indexing() {
  return {
      {"index", "embedding_int32",
       [](Builder& b, Inputs in) {
         const NodeId i = b.input("i", DType::Int32, {dim_b(), 3});
         return embedding(b, i, in.half("w", {100, dim_d()}));
       }},
      {"index", "gather_smaller",
       [](Builder& b, Inputs in) {
         const NodeId x = in.single("x", {dim_b(), dim_d()});
         return gather(b, x, 1, in.index("i", {2, 9}));
       }},
      {"index", "two_indices",
       [](Builder& b, Inputs in) {
         const NodeId x = in.single("x", {2, dim_b(), dim_d()});
         const NodeId i = in.index("i", {7}), j = in.index("j", {7});
         return index(b, x, {std::nullopt, i, j});
       }},
      {"index", "scatter_add",
       [](Builder& b, Inputs in) {
         const NodeId x = in.single("x", {dim_b(), dim_d()}), i = in.index("i", {dim_b(), 2});
         const NodeId s = in.single("s", {dim_b(), 3});
         return scatter(b, x, 1, i, Operand::tensor(s), ScatterMode::Add);
       }},
      {"index", "index_add",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {dim_b(), dim_d()}), i = in.index("i", {3});
         return index_add(b, x, 0, i, in.half("s", {3, dim_d()}), Operand::of(2));
       }},
      {"index", "dropout_philox",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {dim_b(), dim_d()}), seed = in.index("seed", {});
         return dropout_philox(b, x, 0.25, seed, in.index("offset", {}));
       }},
  };
}

class Composed : public testing::TestWithParam<std::vector<Golden>> {};

TEST_P(Composed, PrintsAsRecorded) {
  std::string text;
  for (const Golden& golden : GetParam()) {
    Builder b;
    const auto y = golden.build(b, Inputs{b});
    ASSERT_TRUE(y) << golden.name << ": " << y.error().message;
    const Graph graph = simplify(std::move(b).finish({{"y", *y}}));
    const auto ok = verify(graph);
    EXPECT_TRUE(ok) << golden.name << ": " << ok.error().message;
    text += std::string("== ") + golden.name + "\n" + print(graph);
  }
  expect_golden(std::string(KW_SOURCE_DIR) + "/tests/golden/graph/" + GetParam()[0].family + ".txt",
                text);
}

INSTANTIATE_TEST_SUITE_P(Families, Composed,
                         testing::Values(reductions(), norms(), scans(), products(), moves(),
                                         indexing()),
                         [](const auto& row) { return std::string(row.param[0].family); });

}  // namespace kw::graph
