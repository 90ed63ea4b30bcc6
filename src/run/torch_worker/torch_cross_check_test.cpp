// Cross-checks with a real PyTorch. The oracle here is a table, so that a test can make it wrong.
#include "torch_worker/torch_cross_check.h"

#include <gtest/gtest.h>

#include "torch_worker/test_torch.h"

namespace kw::torch_worker {
namespace {

using tensor::DType;
using tensor::HostTensor;

graph::Node node_at(const char* origin, int line, int column, DType dtype,
                    std::vector<int64_t> shape, graph::Op op = graph::Op::Add) {
  graph::Node node;
  node.op = op;
  node.origin = origin;
  node.line = line;
  node.column = column;
  node.dtype = dtype;
  for (int64_t extent : shape) node.shape.push_back(graph::Dim(extent));
  return node;
}

/// Gives each output node the values from the test.
class TableOracle final : public ports::Oracle {
 public:
  std::map<graph::NodeId, std::vector<double>> values;

  Result<std::vector<ports::Truth>> truth(const graph::Graph& graph, const std::vector<HostTensor>&,
                                          const ports::TruthOptions&) override {
    std::vector<ports::Truth> truths;
    for (const graph::NamedNode& output : graph.outputs) {
      ports::Truth truth;
      truth.name = output.name;
      truth.dtype = graph[output.node].dtype;
      truth.shape = graph::values_of(graph[output.node].shape);
      truth.value = values.at(output.node);
      truths.push_back(std::move(truth));
    }
    return truths;
  }
  Result<std::vector<HostTensor>> op_by_op(const graph::Graph&, const std::vector<HostTensor>&,
                                           const ports::TruthOptions&) override {
    return environment_error("a table has no ops");
  }
};

std::string exactly(const ports::Truth& truth, const HostTensor& got) {
  for (size_t i = 0; i < truth.value.size(); ++i) {
    const double value = tensor::get_element(got, static_cast<int64_t>(i));
    if (value != truth.value[i]) {
      return "[" + std::to_string(i) + "] is " + std::to_string(value);
    }
  }
  return "";
}

// y = x * 2 and z = y + y, first on two lines, then both on one.
constexpr const char* kSource =
    "def f(x):\n"
    "    y = x * 2\n"
    "    z = y + y\n"
    "    return z - (x + 1)\n";

struct Fixture {
  graph::Graph graph;
  std::vector<HostTensor> inputs;
  TableOracle oracle;
  CrossCheck check;

  Fixture() {
    HostTensor x = tensor::make_tensor(DType::Fp32, {2}).value();
    tensor::set_element(x, 0, 1);
    tensor::set_element(x, 1, 5);
    inputs.push_back(std::move(x));
    graph.nodes = {node_at("x", 0, 0, DType::Fp32, {2}, graph::Op::Input),
                   node_at("x * 2", 2, 9, DType::Fp32, {}, graph::Op::Constant),
                   node_at("x * 2", 2, 9, DType::Fp32, {2}),
                   node_at("y + y", 3, 9, DType::Fp32, {2}),
                   node_at("x + 1", 4, 17, DType::Fp32, {2}),
                   node_at("z - (x + 1)", 4, 12, DType::Fp32, {2})};
    graph.inputs = {{"x", 0}};
    graph.outputs = {{"out", 5}};
    oracle.values = {{2, {2, 10}}, {3, {4, 20}}, {4, {2, 6}}, {5, {2, 14}}};
    check.graph = &graph;
    check.inputs = &inputs;
    check.call.source.text = kSource;
    check.call.source.path = "/nowhere/reference.py";
    check.call.arguments = {{"x", &inputs[0], {}}};
    check.judge = exactly;
  }
};

TorchProcess* process() { return shared_torch().get(); }

class TorchCrossCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (process() == nullptr) GTEST_SKIP() << "no Python here can import torch";
  }
};

TEST_F(TorchCrossCheck, AgreesWithTheRightTruth) {
  Fixture f;
  const auto checked = cross_check(f.check, f.oracle, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_TRUE(checked->agree()) << outcome_text(checked->outcome);
}

TEST_F(TorchCrossCheck, NamesTheFirstOpThatParts) {
  Fixture f;
  f.oracle.values[3] = {4, 21};
  f.oracle.values[5] = {2, 15};
  const auto checked = cross_check(f.check, f.oracle, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->mismatches.size(), 1U);
  const Mismatch& mismatch = checked->mismatches[0];
  EXPECT_EQ(mismatch.output, "out");
  EXPECT_EQ(mismatch.line, 3);
  EXPECT_EQ(mismatch.ours, "y + y");
  EXPECT_EQ(mismatch.torchs, "torch.Tensor.add");
  EXPECT_NE(mismatch_text(mismatch).find("line 3, column 9: y + y"), std::string::npos);
}

TEST_F(TorchCrossCheck, NamesDifferingTypes) {
  Fixture f;
  f.graph.nodes[5].dtype = DType::Fp16;
  const auto checked = cross_check(f.check, f.oracle, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->mismatches.size(), 1U);
  EXPECT_NE(checked->mismatches[0].why.find("fp32[2], kernelwright fp16[2]"), std::string::npos);
}

TEST_F(TorchCrossCheck, NamesDifferingCounts) {
  Fixture f;
  f.graph.outputs.push_back({"more", 4});
  const auto checked = cross_check(f.check, f.oracle, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  ASSERT_EQ(checked->mismatches.size(), 1U);
  EXPECT_EQ(checked->mismatches[0].line, 0);
}

TEST_F(TorchCrossCheck, ABadReferenceIsAnOutcome) {
  Fixture f;
  f.check.call.source.text = "def f(x):\n    raise ValueError('no')\n";
  const auto checked = cross_check(f.check, f.oracle, *process());
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->outcome.kind, TorchKind::Raised);
  EXPECT_FALSE(checked->agree());
}

TorchTensor value(DType dtype, std::vector<int64_t> shape) {
  return {"", tensor::make_tensor(dtype, std::move(shape)).value()};
}

Json step(int line, int column) {
  Json made = Json::object();
  made.set("line", line);
  made.set("column", column);
  return made;
}

TEST(PairSteps, GoByPlaceAndOrder) {
  graph::Graph graph;
  // A loop of two rounds on line 2, softmax(x) + 1 on line 3: both begin at the same column.
  graph.nodes = {node_at("x", 0, 0, DType::Fp32, {4}, graph::Op::Input),
                 node_at("y * 2", 2, 5, DType::Fp32, {4}),
                 node_at("y", 1, 1, DType::Fp32, {4}),
                 node_at("y * 2", 2, 5, DType::Fp32, {4}),
                 node_at("softmax(x)", 3, 5, DType::Fp32, {4}),
                 node_at("softmax(x)", 3, 5, DType::Fp32, {4}),
                 node_at("softmax(x) + 1", 3, 5, DType::Fp32, {4})};
  Json steps = Json::array();
  for (const Json& each : {step(2, 5), step(2, 5), step(3, 5), step(3, 5), step(0, 0)})
    steps.push(each);
  std::vector<TorchTensor> values;
  for (int i = 0; i < 5; ++i) values.push_back(value(DType::Fp32, {4}));
  const auto pairs = pair_steps(graph, steps, values);
  ASSERT_EQ(pairs.size(), 4U);
  EXPECT_EQ(pairs[0].node, 1);
  EXPECT_EQ(pairs[1].node, 3);
  EXPECT_EQ(pairs[2].node, 5);
  EXPECT_EQ(pairs[3].node, 6);
}

TEST(PairSteps, SkipWhatCannotBeTheSame) {
  graph::Graph graph;
  graph.nodes = {node_at("a", 2, 1, DType::Fp32, {4}), node_at("b", 2, 1, DType::Int64, {4}),
                 node_at("c", 2, 1, DType::Fp32, {2})};
  Json steps = Json::array();
  for (const Json& each : {step(2, 1), step(2, 1)}) steps.push(each);
  const auto pairs = pair_steps(graph, steps, {value(DType::Int64, {4}), value(DType::Fp32, {2})});
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].node, 1);
  EXPECT_EQ(pairs[1].node, 2);
  EXPECT_TRUE(pair_steps(graph, steps, {}).empty());
}

TEST(PairSteps, GoByLineWherePythonKnowsNoColumns) {
  graph::Graph graph;
  graph.nodes = {node_at("a", 2, 7, DType::Fp32, {4}), node_at("b", 3, 9, DType::Fp32, {4})};
  Json steps = Json::array();
  for (const Json& each : {step(2, 0), step(3, 0)}) steps.push(each);
  const auto pairs = pair_steps(graph, steps, {value(DType::Fp32, {4}), value(DType::Fp32, {4})});
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[1].node, 1);
}

}  // namespace
}  // namespace kw::torch_worker
