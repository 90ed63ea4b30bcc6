// Tests the tables: names, lookups, and wrong arguments. The tests in tests/ops check what rows
// compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/check.h"
#include "core/text.h"
#include "frontend/library_rows.h"
#include "frontend/ops_tables.h"
#include "os/files.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using tensor::DType;

std::vector<std::span<const OpRow>> tables() {
  return {pointwise_rows(), arithmetic_rows(), cast_rows(),     reduction_rows(), norm_rows(),
          scan_rows(),      selection_rows(),  matmul_rows(),   einsum_rows(),    movement_rows(),
          joining_rows(),   indexing_rows(),   distance_rows(), creation_rows()};
}

TEST(Ops, EveryNameHasOneRow) {
  std::map<std::string, int> seen;
  for (const auto& table : tables()) {
    for (const OpRow& row : table) {
      for (const std::string& name : split(row.names, ' ')) ++seen[name];
    }
  }
  for (const LibraryRow& one : library_rows()) {
    if (!one.is_op) continue;
    for (const std::string& name : split(one.names, ' ')) ++seen[name];
  }
  for (const auto& [name, count] : seen) {
    EXPECT_EQ(count, 1) << name;
    EXPECT_NE(find_op(name), nullptr) << name;
  }
  EXPECT_GT(seen.size(), 600u);
}

TEST(Ops, NamesAreSorted) {
  EXPECT_TRUE(std::is_sorted(op_names().begin(), op_names().end()));
  EXPECT_TRUE(std::binary_search(op_names().begin(), op_names().end(), "torch.softmax"));
}

struct Spelling {
  const char* name;
  const char* row;
};

class OpSpelling : public testing::TestWithParam<Spelling> {};

TEST_P(OpSpelling, FindsItsRow) {
  ASSERT_NE(find_op(GetParam().row), nullptr);
  EXPECT_EQ(find_op(GetParam().name), find_op(GetParam().row));
}

INSTANTIATE_TEST_SUITE_P(Rules, OpSpelling,
                         testing::Values(Spelling{"torch.nn.functional.relu", "F.relu"},
                                         Spelling{"Tensor.add_", "torch.add"},
                                         Spelling{"F.relu_", "F.relu"},
                                         Spelling{"Tensor.masked_fill_", "torch.masked_fill"},
                                         Spelling{"operator.mod", "torch.remainder"},
                                         Spelling{"torch.ops.aten.relu.default", "torch.relu"},
                                         Spelling{"torch.arccos", "torch.acos"}));

TEST(Ops, UnknownNamesHaveNoRow) {
  for (const char* name : {"torch.fft", "torch", "", "_", "__", "torch.ops.aten.unique_dim.default",
                           "Tensor.", "F.scaled_dot_product", "torch.add__"}) {
    EXPECT_EQ(find_op(name), nullptr) << name;
  }
}

// The overloads of core ATen that must have a row, as torch.export writes them.
constexpr const char* kAten[] = {"aten.abs.default",
                                 "aten.acos.default",
                                 "aten.add.Scalar",
                                 "aten.add.Tensor",
                                 "aten.addmm.default",
                                 "aten.alias.default",
                                 "aten.amax.default",
                                 "aten.amin.default",
                                 "aten.any.default",
                                 "aten.any.dim",
                                 "aten.any.dims",
                                 "aten.arange.start_step",
                                 "aten.argmax.default",
                                 "aten.argmin.default",
                                 "aten.asinh.default",
                                 "aten.atan2.default",
                                 "aten.bitwise_and.Tensor",
                                 "aten.bitwise_not.default",
                                 "aten.bitwise_or.Scalar",
                                 "aten.bmm.default",
                                 "aten.cat.default",
                                 "aten.ceil.default",
                                 "aten.clamp.Tensor",
                                 "aten.clamp.default",
                                 "aten.clone.default",
                                 "aten.constant_pad_nd.default",
                                 "aten.copy.default",
                                 "aten.cos.default",
                                 "aten.cumsum.default",
                                 "aten.diagonal.default",
                                 "aten.div.Tensor_mode",
                                 "aten.div.Scalar",
                                 "aten.embedding.default",
                                 "aten.empty.memory_format",
                                 "aten.eq.Scalar",
                                 "aten.erf.default",
                                 "aten.exp.default",
                                 "aten.expand.default",
                                 "aten.fill.Scalar",
                                 "aten.flip.default",
                                 "aten.floor.default",
                                 "aten.fmod.Tensor",
                                 "aten.full.default",
                                 "aten.full_like.default",
                                 "aten.gather.default",
                                 "aten.ge.Tensor",
                                 "aten.gelu.default",
                                 "aten.gt.Scalar",
                                 "aten.hardtanh.default",
                                 "aten.index.Tensor",
                                 "aten.index_put.default",
                                 "aten.index_select.default",
                                 "aten.isinf.default",
                                 "aten.isnan.default",
                                 "aten.le.Scalar",
                                 "aten.leaky_relu.default",
                                 "aten.log.default",
                                 "aten.log1p.default",
                                 "aten.logical_and.default",
                                 "aten.lt.Tensor",
                                 "aten.max.dim",
                                 "aten.maximum.default",
                                 "aten.mean.default",
                                 "aten.mean.dim",
                                 "aten.min.dim",
                                 "aten.minimum.default",
                                 "aten.mm.default",
                                 "aten.mul.Scalar",
                                 "aten.native_dropout.default",
                                 "aten.native_group_norm.default",
                                 "aten.native_layer_norm.default",
                                 "aten.ne.Scalar",
                                 "aten.neg.default",
                                 "aten.permute.default",
                                 "aten.pow.Scalar",
                                 "aten.pow.Tensor_Scalar",
                                 "aten.pow.Tensor_Tensor",
                                 "aten.prod.dim_int",
                                 "aten.reciprocal.default",
                                 "aten.reflection_pad1d.default",
                                 "aten.relu.default",
                                 "aten.remainder.Tensor",
                                 "aten.repeat.default",
                                 "aten.replication_pad2d.default",
                                 "aten.round.default",
                                 "aten.rsqrt.default",
                                 "aten.scalar_tensor.default",
                                 "aten.scatter.src",
                                 "aten.scatter.value",
                                 "aten.scatter_add.default",
                                 "aten.scatter_reduce.two",
                                 "aten.select.int",
                                 "aten.select_scatter.default",
                                 "aten.sigmoid.default",
                                 "aten.sign.default",
                                 "aten.slice.Tensor",
                                 "aten.slice_scatter.default",
                                 "aten.sort.default",
                                 "aten.sort.stable",
                                 "aten.split_with_sizes.default",
                                 "aten.sqrt.default",
                                 "aten.squeeze.dim",
                                 "aten.squeeze.dims",
                                 "aten.sub.Tensor",
                                 "aten.sum.dim_IntList",
                                 "aten.sym_numel.default",
                                 "aten.sym_size.int",
                                 "aten.tanh.default",
                                 "aten.topk.default",
                                 "aten.trunc.default",
                                 "aten.unsqueeze.default",
                                 "aten.var.correction",
                                 "aten.var.dim",
                                 "aten.view.default",
                                 "aten.where.self",
                                 "aten._cdist_forward.default",
                                 "aten._log_softmax.default",
                                 "aten._native_batch_norm_legit.default",
                                 "aten._native_batch_norm_legit.no_stats",
                                 "aten._native_batch_norm_legit_no_training.default",
                                 "aten._softmax.default",
                                 "aten._to_copy.default",
                                 "aten._unsafe_view.default",
                                 "aten.linalg_vector_norm.default",
                                 "aten.special_expit.default",
                                 "aten.logsumexp.default",
                                 "aten.silu.default",
                                 "aten.softplus.default",
                                 "aten.elu.default",
                                 "aten.masked_fill.Scalar",
                                 "aten.linear.default",
                                 "aten.matmul.default",
                                 "aten.softmax.int",
                                 "aten.layer_norm.default",
                                 "aten.transpose.int",
                                 "aten.t.default",
                                 "aten.stack.default",
                                 "aten.tril.default",
                                 "prims.convert_element_type.default",
                                 "torch.ops.aten.exp.default",
                                 "aten::exp"};

class AtenName : public testing::TestWithParam<const char*> {};
TEST_P(AtenName, HasARow) { EXPECT_NE(find_aten(GetParam()), nullptr) << GetParam(); }
INSTANTIATE_TEST_SUITE_P(Core, AtenName, testing::ValuesIn(kAten));

TEST(Aten, OthersHaveNone) {
  for (const char* name : {"aten.unique_dim.default", "aten.nonzero.default", "aten.", "aten",
                           "aten.max_unpool2d.default", "mylib.add.Tensor"}) {
    EXPECT_EQ(find_aten(name), nullptr) << name;
  }
}

Result<Value> call(TraceState& trace, const char* name, std::vector<Value> positional) {
  const OpRow* row = find_op(name);
  if (!row) return input_error("no row");
  auto bound = Call::bind(trace.graph, name, row->signature, std::move(positional), {});
  if (!bound) return std::move(bound).error();
  return apply_row(trace, *row, *bound);
}

struct Wrong {
  const char* name;
  std::vector<Value> arguments;  // after the tensor fp32[2, 3]
  const char* message;
};

class WrongArguments : public testing::TestWithParam<Wrong> {};

TEST_P(WrongArguments, AreRefusedInPyTorchsTerms) {
  TraceState trace(std::make_shared<Source>(), {});
  std::vector<Value> arguments{
      Value(Tensor(trace.graph.input("x", DType::Fp32, {Dim(2), Dim(3)})))};
  for (const Value& value : GetParam().arguments) arguments.push_back(value);
  auto result = call(trace, GetParam().name, arguments);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().blame, Blame::Input);
  EXPECT_NE(result.error().message.find(GetParam().message), std::string::npos)
      << result.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongArguments,
    testing::Values(
        Wrong{"torch.softmax", {Value(std::string("last"))}, "argument 'dim' must be int, not str"},
        Wrong{"torch.softmax", {}, "missing required argument 'dim'"},
        Wrong{"torch.sum", {Value(Dim(2))}, "Dimension out of range"},
        Wrong{"torch.exp", {Value(Dim(1)), Value(Dim(1))}, "takes 1 positional argument"},
        Wrong{"torch.add", {Value(std::string("x"))}, "argument 'other' must be Tensor or Number"},
        Wrong{"torch.matmul", {Value(1.5)}, "argument 'other' must be Tensor"},
        Wrong{"F.layer_norm", {make_tuple({Value(Dim(4))})}, "normalized_shape"},
        Wrong{"torch.permute", {make_tuple({Value(Dim(0))})}, "len(dims)"},
        Wrong{"Tensor.view", {Value(Dim(7))}, "is invalid for input of size 6"},
        Wrong{"F.dropout", {Value(0.5)}, "draws random numbers"},
        Wrong{"F.dropout", {Value(1.5)}, "between 0 and 1"},
        Wrong{"torch.cat", {}, "argument 'tensors' must be"},
        Wrong{"torch.norm", {Value(std::string("nuc"))}, "'fro'"},
        Wrong{"torch.tensor_split", {Value(Dim(0))}, "larger than 0"},
        Wrong{"torch.chunk", {Value(Dim(0))}, "greater than 0"},
        Wrong{"torch.topk", {Value(Dim(4))}, "out of range"},
        Wrong{"torch.polygamma", {Value(Dim(1))}, "must be an int known before the run"},
        Wrong{"torch.one_hot", {}, "no row"}),
    [](const auto& row) {
      std::string name = row.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name + std::to_string(row.index);
    });

void collect(const Value& value, std::vector<graph::NamedNode>& outputs) {
  if (const auto* tensor = value.get<Tensor>()) {
    outputs.push_back({"y" + std::to_string(outputs.size()), tensor->node});
  }
  if (const std::vector<Value>* items = items_of(value)) {
    for (const Value& item : *items) collect(item, outputs);
  }
}

std::vector<Value> odd_values(graph::Builder& g) {
  const auto input = [&](const char* name, DType dtype, graph::Shape shape) {
    return Value(Tensor(g.input(name, dtype, std::move(shape))));
  };
  const Value matrix = input("a", DType::Fp32, {Dim(2), Dim(3)});
  const Value index = input("b", DType::Int64, {Dim(3)});
  return {matrix,
          index,
          input("c", DType::Bool, {}),
          input("d", DType::Fp16, {Dim(0), Dim(2), Dim(1)}),
          input("e", DType::Fp64, {Dim(4), Dim(2), Dim(3), Dim(3)}),
          input("f", DType::Uint8, {Dim(3), Dim(3)}),
          Value(None{}),
          Value(true),
          Value(Dim(0)),
          Value(Dim(-1)),
          Value(Dim(1)),
          Value(Dim(3)),
          Value(Dim(int64_t{1} << 62)),
          Value(0.5),
          Value(-INFINITY),
          Value(std::string("sum")),
          Value(DTypeValue{DType::Int8}),
          make_list({}),
          make_tuple({Value(Dim(0)), Value(Dim(1))}),
          make_tuple({Value(Dim(-1)), Value(Dim(-1))}),
          make_list({matrix, matrix}),
          make_list({matrix, index, Value(Dim(1))}),
          Value(Ellipsis{})};
}

// Arguments of any kind must be refused or accepted without a crash, and an accepted call must give
// a sound graph. KW_OPS_ALL=1 tries four times as many.
TEST(Ops, NoArgumentIsABug) {
  uint64_t state = 1;
  const auto draw = [&](uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  std::vector<std::string> names = op_names();
  for (const char* name : kAten) {
    if (std::string_view(name).starts_with("aten."))
      names.push_back(std::string("torch.ops.") + name);
  }
  const int attempts = os::env("KW_OPS_ALL").empty() ? 50 : 200;
  int served = 0;
  for (const std::string& name : names) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      TraceState trace(std::make_shared<Source>(), {});
      const std::vector<Value> odd = odd_values(trace.graph);
      std::vector<Value> arguments;
      const uint64_t count = draw(5);
      for (uint64_t i = 0; i < count; ++i) {
        arguments.push_back(i == 0 && draw(4) != 0 ? odd[draw(6)] : odd[draw(odd.size())]);
      }
      try {
        auto result = call(trace, name.c_str(), arguments);
        if (!result) continue;
        ++served;
        std::vector<graph::NamedNode> outputs;
        collect(*result, outputs);
        if (outputs.empty()) continue;
        auto sound = graph::verify(std::move(trace.graph).finish(outputs));
        ASSERT_TRUE(sound) << name << ": " << sound.error().message;
      } catch (const Bug& bug) {
        ADD_FAILURE() << name << ": " << bug.what();
        break;
      }
    }
  }
  EXPECT_GT(served, 50 * attempts);
}

}  // namespace
}  // namespace kw::frontend
