#include "gate/metamorphic.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "graph/builder.h"
#include "graph/compose_norm.h"
#include "graph/compose_pool.h"
#include "graph/compose_reduce.h"
#include "metric/metric.h"
#include "tensor/convert.h"

namespace kw::gate {

namespace {

using graph::Builder;
using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using tensor::DType;

using Body = std::function<Result<NodeId>(Builder&, NodeId x, NodeId w)>;

/// y = body(x[B, D], w[D]).
graph::Graph graph_of(const Body& body) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {Dim::symbol("B", 4), Dim::symbol("D", 6)});
  const NodeId w = b.input("w", DType::Fp32, {Dim::symbol("D", 6)});
  auto y = body(b, x, w);
  if (!y) throw std::runtime_error(y.error().message);
  return std::move(b).finish({{"y", *y}});
}

/// Names such as "permute B", "scale x 2", "shift x 1", "linear x".
std::set<std::string> names_of(const graph::Graph& graph) {
  std::set<std::string> names;
  for (const Relation& r : find_relations(graph)) {
    const auto amount = [&] { return std::to_string(r.amounts[0]).substr(0, 4); };
    const std::string input = r.input < 0 ? "" : graph.inputs[static_cast<size_t>(r.input)].name;
    switch (r.kind) {
      case RelationKind::Permute:
        names.insert("permute " + r.dim);
        break;
      case RelationKind::Split:
        names.insert("split " + r.dim);
        break;
      case RelationKind::Scale:
        names.insert("scale " + input + " " + amount());
        break;
      case RelationKind::Shift:
        names.insert("shift " + input + " " + amount());
        break;
      case RelationKind::Linear:
        names.insert("linear " + input);
        break;
    }
  }
  return names;
}

struct RelationRow {
  const char* name;
  Body body;
  std::set<std::string> has, lacks;
};

Result<NodeId> plus(Builder& b, NodeId x, Operand y) {
  return b.binary(Op::Add, Operand::tensor(x), y);
}

class Relations : public testing::TestWithParam<RelationRow> {};

TEST_P(Relations, FollowFromTheGraph) {
  const std::set<std::string> found = names_of(graph_of(GetParam().body));
  for (const std::string& name : GetParam().has) EXPECT_TRUE(found.count(name)) << name;
  for (const std::string& name : GetParam().lacks) EXPECT_FALSE(found.count(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, Relations,
    testing::Values(
        RelationRow{"Softmax",
                    [](Builder& b, NodeId x, NodeId) { return graph::softmax(b, x, 1); },
                    {"permute B", "split B", "shift x 0.00"},
                    {"scale x 1.00", "scale x 0.00", "linear x"}},
        RelationRow{"LayerNorm",
                    [](Builder& b, NodeId x, NodeId w) {
                      return graph::layer_norm(b, x, {b.extent(x, 1)}, w, {}, 1e-5);
                    },
                    {"permute B", "split B", "shift x 0.00", "linear w"},
                    {"scale x 0.00", "linear x", "split D"}},
        RelationRow{"ScatterIntoMoreRows",
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      const NodeId zero = b.constant(DType::Fp32, 0);
                      const NodeId base = KW_TRY(b.expand(zero, {Dim(9), Dim(6)}));
                      const NodeId index =
                          b.iota({Dim::symbol("B", 4), Dim::symbol("D", 6)}, 1, DType::Int64);
                      graph::Node node;
                      node.op = Op::Scatter;
                      node.inputs = {base, index, x};
                      node.attrs.dims = {1};
                      return b.add(std::move(node));
                    },
                    {},
                    {"permute B", "split B"}},
        RelationRow{"MaxPool",
                    [](Builder& b, NodeId x, NodeId) {
                      return graph::max_pool(b, x, {{3}, {2}, {1}, {1}});
                    },
                    {"permute B", "split B", "scale x 1.00", "shift x 1.00"},
                    {"permute D", "split D", "linear x"}},
        RelationRow{"MeanPool",
                    [](Builder& b, NodeId x, NodeId) {
                      return graph::avg_pool(b, x, {{3}, {2}, {1}, {1}}, {});
                    },
                    {"permute B", "split B", "scale x 1.00", "linear x"},
                    {"permute D", "split D", "shift x 1.00"}},
        RelationRow{"ZerosBefore",  // as masked_fill(mask, 0) has them
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      const NodeId zero = b.constant(DType::Fp32, 0);
                      graph::Node node;
                      node.op = Op::Concat;
                      node.inputs = {KW_TRY(b.expand(zero, {b.extent(x, 0), Dim(2)})), x};
                      node.attrs.dims = {1};
                      return b.add(std::move(node));
                    },
                    {"scale x 1.00", "linear x"},
                    {"shift x 1.00", "shift x 0.00"}},
        RelationRow{"Fold",
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      graph::Node node;
                      node.op = Op::Fold;
                      node.inputs = {KW_TRY(b.reshape(x, {b.extent(x, 0), Dim(3), Dim(2)}))};
                      node.shape = {b.extent(x, 0), Dim(4)};
                      node.attrs.dims = {1};
                      node.attrs.steps = {1, 1};
                      return b.add(std::move(node));
                    },
                    {"permute B", "split B", "scale x 1.00", "linear x"},
                    {"shift x 1.00", "shift x 2.00"}},
        RelationRow{"RowSum",
                    [](Builder& b, NodeId x, NodeId) { return graph::sum(b, x, {1}, false); },
                    {"permute B", "split B", "linear x", "scale x 1.00", "shift x 6.00"},
                    {}},
        RelationRow{"ColumnSum",
                    [](Builder& b, NodeId x, NodeId) { return graph::sum(b, x, {0}, false); },
                    {"permute D", "split D", "linear x", "shift x 4.00"},
                    {"permute B", "split B"}},
        RelationRow{"Maximum",
                    [](Builder& b, NodeId x, NodeId) { return graph::amax(b, x, {1}, false); },
                    {"permute B", "scale x 1.00", "shift x 1.00"},
                    {"linear x"}},
        RelationRow{"Relu",
                    [](Builder& b, NodeId x, NodeId) {
                      return b.binary(Op::Maximum, Operand::tensor(x), Operand::of(0.0));
                    },
                    {"permute B", "permute D", "scale x 1.00"},
                    {"shift x 1.00", "shift x 0.00", "linear x"}},
        RelationRow{"AffineIsNotLinear",
                    [](Builder& b, NodeId x, NodeId) { return plus(b, x, Operand::of(1.0)); },
                    {"shift x 1.00"},
                    {"linear x", "scale x 1.00"}},
        RelationRow{"Square",
                    [](Builder& b, NodeId x, NodeId) {
                      return b.binary(Op::Mul, Operand::tensor(x), Operand::tensor(x));
                    },
                    {"scale x 2.00", "permute B"},
                    {"linear x", "shift x 0.00"}},
        RelationRow{"Weighted",
                    [](Builder& b, NodeId x, NodeId w) {
                      return b.binary(Op::Mul, Operand::tensor(x), Operand::tensor(w));
                    },
                    {"permute B", "split B", "permute D", "linear x", "linear w"},
                    {}},
        RelationRow{"Transpose",
                    [](Builder& b, NodeId x, NodeId) {
                      return b.permute(x, {1, 0});
                    },
                    {"permute B", "permute D", "linear x"},
                    {}},
        RelationRow{"CumulativeSum",
                    [](Builder& b, NodeId x, NodeId) { return b.scan(Op::CumSum, x, 1); },
                    {"permute B", "linear x"},
                    {"permute D", "split D"}},
        RelationRow{"Mixed",
                    [](Builder& b, NodeId x, NodeId) { return graph::softmax(b, x, 0); },
                    {"permute D", "split D"},
                    {"split B"}},
        RelationRow{"NumberFromRows",
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      const Operand number = Operand::of(graph::Number(0.25, "1 / B"));
                      return b.binary(Op::Mul, Operand::tensor(x), number);
                    },
                    {"permute B", "permute D", "split D"},
                    {"split B"}},
        RelationRow{"NumberFromALongerName",
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      const Operand number = Operand::of(graph::Number(0.25, "1 / (BB + B2 + aB)"));
                      return b.binary(Op::Mul, Operand::tensor(x), number);
                    },
                    {"permute B", "split B"},
                    {}},
        RelationRow{"CountedRows",
                    [](Builder& b, NodeId x, NodeId) -> Result<NodeId> {
                      const NodeId one = b.constant(DType::Fp32, 1.0);
                      const NodeId ones = KW_TRY(b.expand(one, {b.extent(x, 0)}));
                      return plus(b, x, Operand::tensor(KW_TRY(graph::sum(b, ones, {0}, false))));
                    },
                    {"permute B"},
                    {"split B"}},
        RelationRow{"FlippedRows",
                    [](Builder& b, NodeId x, NodeId) {
                      graph::Node flip;
                      flip.op = Op::Flip;
                      flip.inputs = {x};
                      flip.attrs.dims = {0};
                      return b.add(flip);
                    },
                    {"permute D"},
                    {"permute B", "split B"}}),
    [](const testing::TestParamInfo<RelationRow>& row) { return row.param.name; });

tensor::HostTensor values(const std::vector<double>& list, std::vector<int64_t> shape) {
  auto tensor = tensor::make_tensor(DType::Fp32, std::move(shape));
  tensor::store_floats(*tensor, 0, list);
  return std::move(tensor).value();
}

ports::Truth truth(const std::vector<double>& list, std::vector<int64_t> shape) {
  ports::Truth truth;
  truth.name = "y";
  truth.shape = std::move(shape);
  truth.value = list;
  return truth;
}

const Relation& find(const std::vector<Relation>& relations, RelationKind kind) {
  for (const Relation& relation : relations) {
    if (relation.kind == kind) return relation;
  }
  throw std::runtime_error("no such relation");
}

}  // namespace

TEST(Relations, RowsMoveTogether) {
  const graph::Graph graph =
      graph_of([](Builder& b, NodeId x, NodeId) { return graph::sum(b, x, {1}, false); });
  std::vector<double> x, w(6, 1), sums;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 6; ++column) x.push_back(row * 10 + column);
    sums.push_back(row * 60 + 15);
  }
  const std::vector<tensor::HostTensor> inputs = {values(x, {4, 6}), values(w, {6})};
  const std::vector<ports::Truth> truths = {truth(sums, {4})};
  for (const RelationKind kind : {RelationKind::Permute, RelationKind::Split}) {
    const auto changed = apply(find(row_relations(graph), kind), graph, inputs, truths, 5, {});
    ASSERT_TRUE(changed && *changed);
    const Changed& other = **changed;
    EXPECT_EQ(other.extent, kind == RelationKind::Split ? 2 : 4);
    EXPECT_EQ(other.inputs[1].data, inputs[1].data) << "shared";
    ASSERT_EQ(static_cast<int64_t>(other.truths[0].value.size()), other.extent);
    for (int64_t row = 0; row < other.extent; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 6; ++i) sum += tensor::get_element(other.inputs[0], row * 6 + i);
      EXPECT_EQ(sum, other.truths[0].value[static_cast<size_t>(row)]);
    }
  }
}

TEST(Relations, ConstantResultsHaveRows) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp32, {Dim::symbol("B", 4), Dim::symbol("D", 6)});
  const NodeId zero = b.constant(DType::Fp32, 0.0);
  const auto zeros = b.expand(zero, {Dim::symbol("D", 6), Dim::symbol("B", 4)});
  ASSERT_TRUE(zeros);
  const auto relations = row_relations(std::move(b).finish({{"y", x}, {"zeros", *zeros}}));
  for (const Relation& relation : relations) {
    if (relation.dim != "B") continue;
    const int axis = relation.kind == RelationKind::Split ? 1 : -1;
    EXPECT_EQ(relation.output_axes, (std::vector<int>{0, axis}));
  }
  EXPECT_EQ(relations.size(), 4U);
}

TEST(Relations, TwoPartsMakeTheWhole) {
  const graph::Graph graph =
      graph_of([](Builder& b, NodeId x, NodeId) { return graph::sum(b, x, {1}, false); });
  std::vector<double> x(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i + 1);
  const std::vector<tensor::HostTensor> inputs = {values(x, {4, 6}),
                                                  values({1, 1, 1, 1, 1, 1}, {6})};
  const std::vector<ports::Truth> truths = {truth({21, 57, 93, 129}, {4})};
  const auto changed =
      apply(find(value_relations(graph), RelationKind::Linear), graph, inputs, truths, 5, {});
  ASSERT_TRUE(changed && *changed);
  Changed other = **changed;
  std::vector<double> first(4);
  for (int64_t i = 0; i < 24; ++i) {
    const double a = tensor::get_element(other.inputs[0], i);
    const double b = tensor::get_element(other.before[0], i);
    EXPECT_EQ(a + b, x[static_cast<size_t>(i)]);
    EXPECT_EQ(a * b, 0);
    first[static_cast<size_t>(i / 6)] += b;
  }
  subtract({values(first, {4})}, &other.truths);
  for (int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < 6; ++i) sum += tensor::get_element(other.inputs[0], row * 6 + i);
    EXPECT_EQ(other.truths[0].value[static_cast<size_t>(row)], sum);
  }
}

TEST(Relations, PartsThatOverflowAreNotAddedUp) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  ports::Truth sum = truth({70000, 60000, 100, -50, 20, 30}, {6});
  sum.dtype = DType::Fp16;
  sum.may_overflow.assign(6, 0);
  sum.may_overflow[3] = ports::kMayBeNan;
  tensor::HostTensor first = *tensor::make_tensor(DType::Fp16, {6});
  tensor::store_floats(first, 0, std::vector<double>{kInf, 40000, -kInf, 0, 5, 10});
  std::vector<ports::Truth> truths = {sum};
  subtract({first}, &truths);
  tensor::HostTensor second = *tensor::make_tensor(DType::Fp16, {6});
  tensor::store_floats(second, 0, std::vector<double>{0, kInf, kInf, NAN, 15, 20});
  EXPECT_TRUE(metric::compare(truths[0], second, {}).pass);
  tensor::store_floats(second, 0, std::vector<double>{0, kInf, kInf, NAN, kInf, 20});
  EXPECT_FALSE(metric::compare(truths[0], second, {}).pass) << "nothing overflows here";
}

}  // namespace kw::gate
