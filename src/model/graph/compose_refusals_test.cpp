#include <gtest/gtest.h>

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

using test::Inputs;

struct Refusal {
  const char* name;
  Result<NodeId> (*build)(Builder&, Inputs);
  const char* want;
};

// The first tensor of a list, or its Error.
Result<NodeId> first(Result<std::vector<NodeId>> list) {
  if (!list) return std::move(list).error();
  return list->at(0);
}
Result<NodeId> value(Result<ValueIndex> pair) {
  if (!pair) return std::move(pair).error();
  return pair->value;
}

std::vector<Refusal> refusals() {
  static constexpr auto whole = [](Builder& b, Shape shape) { return b.input("x", DType::Int64, shape); };
  return {
      {"mean_of_integers", [](Builder& b, Inputs) { return mean(b, whole(b, {3}), {}, false); },
       "mean(): could not infer output dtype. Input dtype must be either a floating point or "
       "complex dtype. Got: Long"},
      {"var_of_integers", [](Builder& b, Inputs) { return var(b, whole(b, {3}), {}, 1, false); },
       "std and var only support floating point"},
      {"norm_of_integers",
       [](Builder& b, Inputs) { return vector_norm(b, whole(b, {3}), 2, {}, false); },
       "Expected a floating point or complex tensor as input. Got Long"},
      {"softmax_of_integers", [](Builder& b, Inputs) { return softmax(b, whole(b, {3}), 0); },
       "\"softmax\" not implemented for 'Long'"},
      {"softmax_dim", [](Builder& b, Inputs in) { return softmax(b, in.half("x", {3}), 1); },
       "Dimension out of range"},
      {"argmax_of_bool",
       [](Builder& b, Inputs) { return argmax(b, b.input("x", DType::Bool, {3}), 0, false); },
       "argmax(): does not support bool input"},
      {"argmax_of_nothing",
       [](Builder& b, Inputs in) { return argmax(b, in.half("x", {0}), {}, false); },
       "Expected reduction dim to be specified for input.numel() == 0"},
      {"amax_of_nothing",
       [](Builder& b, Inputs in) { return amax(b, in.half("x", {0}), {}, false); },
       "Expected reduction dim 0 to have non-zero size"},
      {"layer_norm_shape",
       [](Builder& b, Inputs in) {
         return layer_norm(b, in.half("x", {2, 3}), {4}, {}, {}, 1e-5);
       },
       "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]"},
      {"layer_norm_weight",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, 3});
         return layer_norm(b, x, {3}, in.half("w", {2}), {}, 1e-5);
       },
       "Expected weight and bias to be of same shape as normalized_shape, but got shape [2]"},
      {"layer_norm_nothing",
       [](Builder& b, Inputs in) { return layer_norm(b, in.half("x", {2}), {}, {}, {}, 1e-5); },
       "at least 1-dimensional"},
      {"group_norm_groups",
       [](Builder& b, Inputs in) {
         return group_norm(b, in.half("x", {2, 6}), 4, {}, {}, 1e-5);
       },
       "divisible by num_groups, but got input of shape [2, 6] and num_groups=4"},
      {"group_norm_zero",
       [](Builder& b, Inputs in) {
         return group_norm(b, in.half("x", {2, 6}), 0, {}, {}, 1e-5);
       },
       "num_groups=0"},
      {"batch_norm_one_value",
       [](Builder& b, Inputs in) {
         ChannelNorm norm;
         norm.training = true;
         return batch_norm(b, in.half("x", {1, 3}), norm);
       },
       "Expected more than 1 value per channel when training, got input size [1, 3]"},
      {"batch_norm_no_statistics",
       [](Builder& b, Inputs in) {
         return batch_norm(b, in.half("x", {2, 3}), {});
       },
       "Expected running_mean and running_var"},
      {"batch_norm_wrong_size",
       [](Builder& b, Inputs in) {
         ChannelNorm norm;
         const NodeId x = in.half("x", {2, 3});
         norm.running_mean = in.half("m", {4});
         norm.running_var = in.half("v", {4});
         return batch_norm(b, x, norm);
       },
       "running_mean should contain 3 elements not 4"},
      {"batch_norm_vector",
       [](Builder& b, Inputs in) { return batch_norm(b, in.half("x", {2}), {}); },
       "Expected at least 2 dimensions"},
      {"topk_too_many",
       [](Builder& b, Inputs in) { return value(topk(b, in.half("x", {3}), 4, 0, true)); },
       "selected index k out of range"},
      {"kthvalue_zero",
       [](Builder& b, Inputs in) { return value(kthvalue(b, in.half("x", {3}), 0, 0, false)); },
       "selected number k out of range for dimension 0"},
      {"median_of_nothing",
       [](Builder& b, Inputs in) { return value(median(b, in.half("x", {0}), 0, false)); },
       "non-zero size"},
      {"logcumsumexp_of_integers",
       [](Builder& b, Inputs) { return logcumsumexp(b, whole(b, {3}), 0); }, "not implemented"},
      {"mm_of_vectors",
       [](Builder& b, Inputs in) { return mm(b, in.half("x", {3}), in.half("y", {3})); },
       "self must be a matrix, got 1-D tensor"},
      {"bmm_extents",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {5, 2, 3});
         return bmm(b, x, in.half("y", {5, 4, 3}));
       },
       "Expected size for first two dimensions of batch2 tensor to be: [5, 3] but got: [5, 4]."},
      {"linear_dtypes",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, 3});
         return linear(b, x, in.single("w", {4, 3}), {});
       },
       "must have the same dtype, but got Half and Float"},
      {"linear_shapes",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, 3});
         return linear(b, x, in.half("w", {3, 4}), in.half("bias", {4}));
       },
       "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x3)"},
      {"addmm_float_scale",
       [](Builder& b, Inputs) {
         const NodeId x = whole(b, {2, 2});
         return addmm(b, x, x, x, {Operand::of(0.5), Operand::of(1)});
       },
       "For integral input tensors"},
      {"slice_step",
       [](Builder& b, Inputs in) { return slice_range(b, in.half("x", {3}), 0, {}, {}, 0); },
       "slice step must be positive"},
      {"narrow_outside",
       [](Builder& b, Inputs in) { return narrow(b, in.half("x", {3}), 0, 2, 2); },
       "start (2) + length (2) exceeds dimension size (3)."},
      {"select_outside", [](Builder& b, Inputs in) { return select(b, in.half("x", {3}), 0, 3); },
       "index 3 is out of bounds for dimension 0 with size 3"},
      {"select_rank_0", [](Builder& b, Inputs in) { return select(b, in.half("x", {}), 0, 0); },
       "0-dim tensor"},
      {"split_zero", [](Builder& b, Inputs in) { return first(split(b, in.half("x", {3}), 0, 0)); },
       "split expects split_size"},
      {"split_sum",
       [](Builder& b, Inputs in) {
         return first(split_sizes(b, in.half("x", {3}), {1, 1}, 0));
       },
       "to sum exactly to 3"},
      {"split_negative",
       [](Builder& b, Inputs in) {
         return first(split_sizes(b, in.half("x", {3}), {4, -1}, 0));
       },
       "only non-negative entries"},
      {"chunk_zero", [](Builder& b, Inputs in) { return first(chunk(b, in.half("x", {3}), 0, 0)); },
       "greater than 0"},
      {"unbind_too_many",
       [](Builder& b, Inputs in) { return first(unbind(b, in.half("x", {1 << 20}), 0)); },
       "more than 65536 pieces"},
      {"cat_nothing", [](Builder& b, Inputs) { return cat(b, {}, 0); }, "non-empty list"},
      {"cat_rank_0", [](Builder& b, Inputs in) { return cat(b, {in.half("x", {})}, 0); },
       "zero-dimensional tensor (at position 0) cannot be concatenated"},
      {"cat_extents",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, 3});
         return cat(b, {x, in.half("y", {3, 3})}, 1);
       },
       "Expected size 2 but got size 3 for tensor number 1 in the list."},
      {"cat_ranks",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {2, 3});
         return cat(b, {x, in.half("y", {3})}, 1);
       },
       "Tensors must have same number of dimensions: got 2 and 1"},
      {"stack_extents",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return stack(b, {x, in.half("y", {4})}, 0);
       },
       "stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"},
      {"repeat_short",
       [](Builder& b, Inputs in) {
         return repeat(b, in.half("x", {2, 3}), {2});
       },
       "can not be smaller than number of dimensions"},
      {"repeat_negative", [](Builder& b, Inputs in) { return repeat(b, in.half("x", {3}), {-1}); },
       "negative dimension -1"},
      {"roll_dims",
       [](Builder& b, Inputs in) {
         return roll(b, in.half("x", {3}), {1, 2}, {0});
       },
       "shifts and dimensions must align"},
      {"pad_odd",
       [](Builder& b, Inputs in) { return pad(b, in.half("x", {3}), {1}, PadMode::Constant, 0); },
       "divisible by 2"},
      {"pad_reflect_wide",
       [](Builder& b, Inputs in) {
         return pad(b, in.half("x", {2, 3}), {3, 0}, PadMode::Reflect, 0);
       },
       "Padding size should be less than the corresponding input dimension"},
      {"pad_reflect_rank",
       [](Builder& b, Inputs in) {
         return pad(b, in.half("x", {1, 2, 3, 4}), {1, 1}, PadMode::Reflect, 0);
       },
       "Padding size 2 is not supported for 4D input tensor"},
      {"pad_circular_wide",
       [](Builder& b, Inputs in) {
         return pad(b, in.half("x", {2, 3}), {4, 0}, PadMode::Circular, 0);
       },
       "wrapping around more than once"},
      {"pad_cuts_all",
       [](Builder& b, Inputs in) {
         return pad(b, in.half("x", {3}), {-2, -2}, PadMode::Constant, 0);
       },
       "leaves nothing"},
      {"flatten_order",
       [](Builder& b, Inputs in) {
         return flatten(b, in.half("x", {2, 3}), 1, 0);
       },
       "start_dim cannot come after end_dim"},
      {"unflatten_sizes",
       [](Builder& b, Inputs in) {
         return unflatten(b, in.half("x", {6}), 0, {4, -1});
       },
       "don't multiply up to the size of dim 0 (6)"},
      {"movedim_counts",
       [](Builder& b, Inputs in) {
         return movedim(b, in.half("x", {2, 3}), {0, 1}, {0});
       },
       "same number of dims"},
      {"diag_rank",
       [](Builder& b, Inputs in) {
         return diag(b, in.half("x", {2, 2, 2}), 0);
       },
       "diag(): Supports 1D or 2D tensors. Got 3D"},
      {"diagonal_same",
       [](Builder& b, Inputs in) {
         return diagonal(b, in.half("x", {2, 2}), 0, 0, -2);
       },
       "cannot be identical"},
      {"triu_vector", [](Builder& b, Inputs in) { return triu(b, in.half("x", {3}), 0); },
       "at least 2 dimensions"},
      {"gather_dtype",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return gather(b, x, 0, in.half("i", {3}));
       },
       "gather(): Expected dtype int64 for index"},
      {"gather_rank",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3, 3});
         return gather(b, x, 0, in.index("i", {3}));
       },
       "same number of dimensions"},
      {"gather_larger",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3, 3});
         return gather(b, x, 1, in.index("i", {4, 3}));
       },
       "to be no larger than [3, 3] apart from dimension 1"},
      {"index_mask",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return index(b, x, {b.input("m", DType::Bool, {3})});
       },
       "use torch.where instead"},
      {"index_too_many",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3}), i = in.index("i", {2});
         return index(b, x, {i, i});
       },
       "too many indices for tensor of dimension 1"},
      {"scatter_dtypes",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3}), i = in.index("i", {2});
         return scatter(b, x, 0, i, Operand::tensor(in.single("s", {2})), ScatterMode::Set);
       },
       "Expected self.dtype to be equal to src.dtype"},
      {"index_add_shape",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3, 4}), i = in.index("i", {2});
         return index_add(b, x, 0, i, in.half("s", {2, 5}), Operand::of(1));
       },
       "index_add(): source has shape [2, 5], expected [2, 4]"},
      {"embedding_weight",
       [](Builder& b, Inputs in) {
         const NodeId i = in.index("i", {2});
         return embedding(b, i, in.half("w", {3}));
       },
       "'weight' must be 2-D"},
      {"masked_fill_mask",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return masked_fill(b, x, in.half("m", {3}), Operand::of(0.0));
       },
       "masked_fill only supports boolean masks"},
      {"one_hot_classes", [](Builder& b, Inputs in) { return one_hot(b, in.index("i", {3}), -1); },
       "num_classes should be positive"},
      {"dropout_probability",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return dropout_mask(b, x, b.input("m", DType::Bool, {3}), 1.5);
       },
       "dropout probability has to be between 0 and 1, but got 1.5"},
      {"philox_seed",
       [](Builder& b, Inputs in) {
         const NodeId x = in.half("x", {3});
         return dropout_philox(b, x, 0.5, in.single("s", {}), in.index("o", {}));
       },
       "seed and offset are int64 of rank 0"},
      {"response_norm_size",
       [](Builder& b, Inputs in) {
         return local_response_norm(b, in.half("x", {2, 3, 4}), 1000000000, 1, 1, 1);
       },
       "size must be between 1 and 1024"},
  };
}

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, SayWhatPyTorchWouldSay) {
  Builder b;
  const auto result = GetParam().build(b, Inputs{b});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().blame, Blame::Input);
  EXPECT_NE(result.error().message.find(GetParam().want), std::string::npos)
      << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(Table, Refusals, testing::ValuesIn(refusals()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace kw::graph
