// The structure of backward graphs: names, inputs, closed forms, refusals. tests/derive checks the
// numbers.
#include "graph/derive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_norm.h"
#include "graph/compose_scan.h"
#include "graph/test_inputs.h"

namespace kw::graph {
namespace {

using test::dim_b;
using test::dim_d;
using test::Inputs;

std::vector<std::string> derived_names(const std::vector<NamedNode>& nodes) {
  std::vector<std::string> names;
  for (const NamedNode& one : nodes) names.push_back(one.name);
  return names;
}

int count(const Graph& graph, Op op) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const Node& node) { return node.op == op; }));
}

using Names = std::vector<std::string>;

TEST(Derive, ALinearNeedsNoBiasAndNoOutput) {
  Builder b;
  Inputs in{b};
  const NodeId x = in.half("x", {dim_b(), dim_d()});
  const NodeId w = in.half("w", {8, dim_d()});
  const NodeId bias = in.half("bias", {8});
  const NodeId y = *linear(b, x, w, bias);
  const Graph graph = *backward(std::move(b).finish({{"y", y}}));
  EXPECT_EQ(derived_names(graph.inputs), (Names{"x", "w", "grad_y"}));
  EXPECT_EQ(derived_names(graph.outputs), (Names{"grad_x", "grad_w", "grad_bias"}));
  EXPECT_EQ(count(graph, Op::MatMul), 2);
  for (const NamedNode& output : graph.outputs) EXPECT_EQ(graph[output.node].dtype, DType::Fp16);
}

TEST(Derive, SoftmaxHasItsClosedForm) {
  Builder b;
  const NodeId x = Inputs{b}.single("x", {dim_b(), dim_d()});
  const NodeId y = *softmax(b, x, 1);
  const Graph graph = *backward(std::move(b).finish({{"y", y}}));
  // The maximum is subtracted, but it is not differentiated.
  EXPECT_EQ(count(graph, Op::ArgMax), 0);
  EXPECT_EQ(count(graph, Op::Sum), 2);
  EXPECT_EQ(count(graph, Op::Exp), 1);
}

TEST(Derive, SavedResultsAreGiven) {
  Builder b;
  const NodeId x = Inputs{b}.single("x", {dim_b(), dim_d()});
  const NodeId y = *softmax(b, x, 1);
  BackwardOptions options;
  options.saved = {"y"};
  const Graph graph = *backward(std::move(b).finish({{"y", y}}), options);
  EXPECT_EQ(derived_names(graph.inputs), (Names{"y", "grad_y"}));
  EXPECT_EQ(count(graph, Op::Exp), 0);
}

TEST(Derive, NormalisationHasItsClosedForm) {
  Builder b;
  Inputs in{b};
  const NodeId x = in.half("x", {dim_b(), dim_d()});
  const NodeId w = in.half("w", {dim_d()});
  const NodeId y = *layer_norm(b, x, {dim_d()}, w, std::nullopt, 1e-5);
  const Graph graph = *backward(std::move(b).finish({{"y", y}}));
  // Mean, variance, mean(g), mean(g * h), and the gradient of the weight.
  EXPECT_EQ(count(graph, Op::Sum), 5);
}

TEST(Derive, AnIndexIsAConstant) {
  Builder b;
  Inputs in{b};
  const NodeId x = in.single("x", {dim_b(), dim_d()});
  const NodeId i = in.index("i", {dim_b(), 1});
  const NodeId y = *gather(b, x, 1, i);
  const Graph graph = *backward(std::move(b).finish({{"y", y}}));
  EXPECT_EQ(derived_names(graph.inputs), (Names{"i", "grad_y"}));
  EXPECT_EQ(count(graph, Op::Scatter), 0);
}

TEST(Derive, OnlyWhatIsAskedFor) {
  Builder b;
  Inputs in{b};
  const NodeId x = in.single("x", {dim_b()});
  const NodeId z = in.single("z", {dim_b()});
  const NodeId y = *b.binary(Op::Mul, Operand::tensor(x), Operand::tensor(z));
  const Graph forward = std::move(b).finish({{"y", y}});
  BackwardOptions options;
  options.of = {"z"};
  EXPECT_EQ(derived_names(backward(forward, options)->inputs), (Names{"x", "grad_y"}));
  options.keep = {"z"};
  EXPECT_EQ(derived_names(backward(forward, options)->inputs), (Names{"x", "z", "grad_y"}));
}

TEST(Derive, NamesNeverMeet) {
  Builder b;
  Inputs in{b};
  const NodeId x = in.single("x", {dim_b()});
  const NodeId y = *b.unary(Op::Sin, x);
  const Graph graph = *backward(std::move(b).finish({{"x", y}}));
  EXPECT_EQ(derived_names(graph.inputs), (Names{"x", "grad_x_out"}));
  EXPECT_EQ(derived_names(graph.outputs), (Names{"grad_x"}));
}

struct Refusal {
  const char* name;
  NodeId (*make)(Builder& b);
  const char* of;
  const char* message;
};

const Refusal kRefusals[] = {
    {"integers", [](Builder& b) { return *b.unary(Op::Neg, Inputs{b}.index("x", {dim_b()})); }, "",
     "nothing to differentiate"},
    {"steps", [](Builder& b) { return *b.unary(Op::Floor, Inputs{b}.single("x", {dim_b()})); }, "",
     "nothing to differentiate"},
    {"position",
     [](Builder& b) { return *b.reduce(Op::ArgMax, Inputs{b}.single("x", {dim_b()}), {0}, false); },
     "", "nothing to differentiate"},
    {"unknown", [](Builder& b) { return *b.unary(Op::Sin, Inputs{b}.single("x", {dim_b()})); }, "w",
     "there is no such input"},
};

class DeriveRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(DeriveRefusal, SaysWhy) {
  Builder b;
  const NodeId y = GetParam().make(b);
  BackwardOptions options;
  if (*GetParam().of != '\0') options.of = {GetParam().of};
  const auto graph = backward(std::move(b).finish({{"y", y}}), options);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().blame, Blame::Input);
  EXPECT_NE(graph.error().message.find(GetParam().message), std::string::npos)
      << graph.error().message;
}

INSTANTIATE_TEST_SUITE_P(Graphs, DeriveRefusal, testing::ValuesIn(kRefusals),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::graph
