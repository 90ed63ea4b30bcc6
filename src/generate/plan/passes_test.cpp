// Tests the effect of each pass on a small graph, in printed form.
#include "plan/passes.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/compose_conv.h"
#include "graph/compose_norm.h"
#include "graph/compose_window.h"
#include "graph/derive.h"

namespace kw::generate {
namespace {

using graph::Builder;
using graph::Operand;

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

struct PassRow {
  const char* name;
  const char* pass;
  NodeId (*build)(Builder&, NodeId x);
  const char* has;   // must be in the printed graph afterwards
  const char* lost;  // must no longer be in it
};

NodeId square(Builder& b, NodeId x) {
  return must(b.binary(Op::Pow, Operand::tensor(x), Operand::of(2.0)));
}
NodeId inverse(Builder& b, NodeId x) {
  return must(b.binary(Op::Pow, Operand::tensor(x), Operand::of(-1.0)));
}
NodeId root(Builder& b, NodeId x) {
  return must(b.binary(Op::Pow, Operand::tensor(x), Operand::of(0.3)));
}
NodeId quarter(Builder& b, NodeId x) {
  return must(b.binary(Op::Div, Operand::tensor(x), Operand::of(4.0)));
}
NodeId third(Builder& b, NodeId x) {
  return must(b.binary(Op::Div, Operand::tensor(x), Operand::of(3.0)));
}
NodeId constants(Builder& b, NodeId x) {
  const NodeId two = b.constant(DType::Fp32, 2), three = b.constant(DType::Fp32, 3);
  const NodeId product = must(b.binary(Op::Mul, Operand::tensor(two), Operand::tensor(three)));
  return must(b.binary(Op::Add, Operand::tensor(x), Operand::tensor(product)));
}
NodeId softmax_row(Builder& b, NodeId x) { return must(graph::softmax(b, x, -1)); }
NodeId row_share(Builder& b, NodeId x) {
  const NodeId total = must(b.reduce(Op::Sum, x, {1}, true));
  return must(b.binary(Op::Div, Operand::tensor(x), Operand::tensor(total)));
}

NodeId half_windows(Builder& b, NodeId x) {
  const NodeId wide = b.cast(b.cast(x, DType::Fp16), DType::Fp32);
  return must(graph::windows(b, wide, {{3, 1, 1, 1, 1}}, 0));
}
NodeId filled_windows(Builder& b, NodeId x) {
  const NodeId wide = b.cast(b.cast(x, DType::Fp16), DType::Fp32);
  return must(graph::windows(b, wide, {{3, 1, 1, 1, 1}}, 0.1));
}

NodeId side_by_side(Builder& b, NodeId x) {
  const Dim rows = b[x].shape[0];
  const NodeId pairs = must(b.reshape(x, {rows, 4, 2}));
  graph::Attrs attrs;
  attrs.dims = {1};
  attrs.steps = {2, 1};
  return must(b.add({Op::Fold, {pairs}, DType::Fp32, {rows, 9}, attrs, "", 0, 0}));
}
NodeId over_each_other(Builder& b, NodeId x) {
  const Dim rows = b[x].shape[0];
  const NodeId pairs = must(b.reshape(x, {rows, 4, 2}));
  graph::Attrs attrs;
  attrs.dims = {1};
  attrs.steps = {1, 1};
  return must(b.add({Op::Fold, {pairs}, DType::Fp32, {rows, 5}, attrs, "", 0, 0}));
}
/// A lower bound, and a comparison with it.
template <Op kQuestion>
NodeId masked(Builder& b, NodeId x) {
  const NodeId up = must(b.binary(Op::Maximum, Operand::tensor(x), Operand::of(0.0)));
  const NodeId asked = must(b.binary(kQuestion, Operand::tensor(x), Operand::of(0.0)));
  return must(b.where(asked, Operand::tensor(up), Operand::of(1.0)));
}

NodeId place_in_window(Builder& b, NodeId x) {
  const NodeId windows = must(graph::windows(b, x, {{3, 1, 1, 1, 1}}, 0));
  const NodeId place = must(b.reduce(Op::ArgMax, windows, {2}, true));
  return must(b.binary(Op::Mul, Operand::tensor(place), Operand::of(2)));
}
NodeId place_in_row(Builder& b, NodeId x) {
  const NodeId place = must(b.reduce(Op::ArgMax, x, {1}, true));
  return must(b.binary(Op::Mul, Operand::tensor(place), Operand::of(2)));
}

class PassTable : public testing::TestWithParam<PassRow> {};

TEST_P(PassTable, DoesWhatItSays) {
  const PassRow& row = GetParam();
  Builder b;
  const NodeId x =
      b.input("x", DType::Fp32, {graph::Dim::symbol("B", 4), graph::Dim::symbol("D", 8)});
  const NodeId y = row.build(b, x);
  const Graph before = std::move(b).finish({{"y", y}});
  std::vector<std::string> others;
  for (const Pass& pass : passes()) {
    if (std::string(pass.name) != row.pass && std::string(pass.name) != "simplify") {
      others.emplace_back(pass.name);
    }
  }
  const std::string text = graph::print(must(run_passes(before, others)));
  EXPECT_NE(text.find(row.has), std::string::npos) << text;
  if (*row.lost != '\0') {
    EXPECT_EQ(text.find(row.lost), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Passes, PassTable,
    testing::Values(PassRow{"Square", "decompose", square, "mul(%0, %0)", "pow"},
                    PassRow{"Inverse", "decompose", inverse, "reciprocal(%0)", "pow"},
                    PassRow{"OtherPowersStay", "decompose", root, "pow", "mul("},
                    PassRow{"PowerOfTwo", "decompose", quarter, "constant(0.25)", "div("},
                    PassRow{"ThirdsStay", "decompose", third, "div(", "mul("},
                    PassRow{"Constants", "fold_constants", constants, "constant(6)", "mul("},
                    PassRow{"SoftmaxDividesOnce", "reciprocal", softmax_row, "reciprocal(", "div("},
                    PassRow{"OtherSumsMayBeZero", "reciprocal", row_share, "div(", "reciprocal("},
                    PassRow{"WindowsSideBySide", "disjoint", side_by_side, "fp32[B, 9] = pad",
                            "fold("},
                    PassRow{"WindowsOverEachOther", "disjoint", over_each_other, "fold(", "pad("},
                    PassRow{"MaskOfAMaximum", "kept_signs", masked<Op::Le>, "le(%3,", "le(%0,"},
                    PassRow{"OtherMasksStay", "kept_signs", masked<Op::Ge>, "ge(%0,", "ge(%3,"},
                    PassRow{"PlacesInWindows", "short_places", place_in_window,
                            "int8[B, D, 1] = cast", "double"},
                    PassRow{"PlacesInRows", "short_places", place_in_row, "arg_max(", "int8["},
                    PassRow{"HalvesInWindows", "late_casts", half_windows, "fp16[B, D, 3] = window",
                            "fp32[B, D, 3] = window"},
                    PassRow{"FillsThatHalvesLack", "late_casts", filled_windows,
                            "fp32[B, D, 3] = window", "fp16[B, D, 3] = window"}),
    [](const auto& row) { return std::string(row.param.name); });

/// A product that is transposed afterwards; returns the op of the result. `twice`: it is also read
/// untransposed.
std::string turned_product(bool twice) {
  Builder b;
  const Dim rows = graph::Dim::symbol("B", 4), columns = graph::Dim::symbol("K", 6);
  const NodeId x = b.input("x", DType::Fp32, {rows, 8});
  const NodeId w = b.input("w", DType::Fp32, {8, columns});
  const NodeId product = must(b.matmul(x, w));
  std::vector<graph::NamedNode> outputs = {{"y", must(b.permute(product, {1, 0}))}};
  if (twice) outputs.push_back({"z", product});
  const Graph after = must(run_passes(std::move(b).finish(outputs), {}));
  const Node& y = after[after.outputs[0].node];
  return graph::shape_text(y.shape) + (y.op == Op::MatMul ? " product" : " turned");
}

TEST(Passes, TurnProductsByTheirOperands) {
  EXPECT_EQ(turned_product(false), "[K, B] product");
  EXPECT_EQ(turned_product(true), "[K, B] turned");
}

struct TransposedRow {
  const char* name;
  std::vector<int64_t> stride, dilation, padding, more;
  bool unfolds;
};

class Transposed : public testing::TestWithParam<TransposedRow> {};

TEST_P(Transposed, AreConvolutionsWherePhasesAreApart) {
  const TransposedRow& row = GetParam();
  Builder b;
  const Dim size = graph::Dim::symbol("H", 6);
  const NodeId x = b.input("x", DType::Fp32, {graph::Dim::symbol("N", 2), 4, size, 5});
  const NodeId w = b.input("w", DType::Fp32, {4, 3, 3, 2});
  const NodeId y = must(graph::conv_transpose(
      b, x, w, std::nullopt, {row.stride, row.dilation, row.padding, row.more, 1}));
  const std::string text = graph::print(must(run_passes(std::move(b).finish({{"y", y}}), {})));
  EXPECT_EQ(text.find("fold(") == std::string::npos, row.unfolds) << text;
  EXPECT_EQ(text.find("window(") != std::string::npos, row.unfolds) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Passes, Transposed,
    testing::Values(TransposedRow{"Dense", {1, 1}, {1, 1}, {0, 0}, {0, 0}, true},
                    TransposedRow{"Strided", {2, 3}, {1, 1}, {1, 0}, {1, 0}, true},
                    TransposedRow{"Dilated", {1, 1}, {2, 1}, {0, 1}, {0, 0}, true},
                    TransposedRow{"Both", {2, 1}, {2, 1}, {0, 0}, {0, 0}, false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Passes, WhatIsSlicedAwayIsNotComputed) {
  Builder b;
  const Dim size = graph::Dim::symbol("H", 6);
  const NodeId x = b.input("x", DType::Fp32, {graph::Dim::symbol("N", 2), 4, size, 5});
  const NodeId w = b.input("w", DType::Fp32, {3, 4, 3, 3});
  const NodeId y = must(graph::conv(b, x, w, std::nullopt, {{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}));
  const Graph forward = std::move(b).finish({{"y", y}});
  const Graph gradient = must(graph::backward(forward, {{"x"}, {}, {}}));
  const std::string text = graph::print(must(run_passes(gradient, {})));
  EXPECT_EQ(text.find("slice("), std::string::npos) << text;
  EXPECT_NE(text.find("fp32[N, 4, 5 * H] = mat_mul"), std::string::npos) << text;
}

TEST(Passes, UnknownNamesAreRefused) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {Dim(2)});
  const Graph graph = std::move(b).finish({{"y", x}});
  const auto refused = run_passes(graph, {"decompos"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean 'decompose'"), std::string::npos);
}

}  // namespace
}  // namespace kw::generate
