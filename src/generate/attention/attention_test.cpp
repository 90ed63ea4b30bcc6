// Tests which graphs are attention, and which keys their masks hide.
#include "attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/builder.h"
#include "graph/compose_attention.h"
#include "graph/compose_norm.h"
#include "graph/term.h"

namespace kw::generate {
namespace {

using graph::Builder;
using graph::Formula;
using graph::Term;

Dim named_dim(const char* name, int64_t value) { return graph::Dim::symbol(name, value); }

/// Queries, keys and values of a graph under construction.
struct Heads {
  Builder b;
  Formula f{b};
  NodeId q, k, v;

  explicit Heads(DType dtype = DType::Fp16)
      : q(b.input("q", dtype, {Dim(3), named_dim("L", 5), named_dim("D", 8)})),
        k(b.input("k", dtype, {Dim(3), named_dim("S", 7), named_dim("D", 8)})),
        v(b.input("v", dtype, {Dim(3), named_dim("S", 7), named_dim("F", 4)})) {}

  Term scores() { return f(b.matmul(q, *b.permute(k, {0, 2, 1}))); }
  NodeId shares(const Term& scores) { return *graph::softmax(b, *f.done(scores), -1); }
  NodeId mixed(NodeId shares) { return *b.matmul(shares, v); }
  Term row() { return f(b.iota({named_dim("L", 5), Dim(1)}, 0, DType::Int64)); }
  Term key() { return f(b.iota({Dim(1), named_dim("S", 7)}, 1, DType::Int64)); }
};

/// A graph and the region of its whole.
struct Everything {
  Graph graph;
  Region region;

  Everything(Builder builder, const std::vector<NodeId>& outputs) {
    std::vector<graph::NamedNode> named;
    for (const NodeId id : outputs) named.push_back({"y" + std::to_string(named.size()), id});
    graph = std::move(builder).finish(named);
    region.graph = &graph;
    region.name = "kernel";
    for (const graph::NamedNode& input : graph.inputs)
      region.loads[input.node] = {input.name, graph[input.node].dtype, graph[input.node].shape};
    for (const graph::NamedNode& one : named)
      region.stores.push_back({one.node, {one.name, graph[one.node].dtype, graph[one.node].shape}});
  }
};

struct ShapeCase {
  const char* name;
  std::vector<NodeId> (*outputs)(Heads&);
  bool taken;
};

const ShapeCase kShapes[] = {
    {"plain", [](Heads& h) { return std::vector{h.mixed(h.shares(h.scores()))}; }, true},
    {"scaled", [](Heads& h) { return std::vector{h.mixed(h.shares(h.scores() * 0.3))}; }, true},
    {"capped",
     [](Heads& h) { return std::vector{h.mixed(h.shares(apply(Op::Tanh, h.scores()) * 20.0))}; },
     true},
    {"fused", [](Heads& h) { return std::vector{*graph::attention(h.b, h.q, h.k, h.v, {})}; },
     true},
    {"epilogue",
     [](Heads& h) {
       const NodeId y = h.mixed(h.shares(h.scores()));
       return std::vector{*h.f.done(apply(Op::Sigmoid, h.f(y)))};
     },
     true},
    {"turned",
     [](Heads& h) {
       return std::vector{*h.b.permute(h.mixed(h.shares(h.scores())), {1, 0, 2})};
     },
     true},
    {"scores_wanted",
     [](Heads& h) {
       const Term scores = h.scores();
       return std::vector{h.mixed(h.shares(scores)), *h.f.done(scores)};
     },
     false},
    {"no_maximum",
     [](Heads& h) {
       const Term power = apply(Op::Exp, h.scores());
       return std::vector{h.mixed(*h.f.done(power / reduce(Op::Sum, power, {2})))};
     },
     false},
    {"another_sum",
     [](Heads& h) {
       const Term scores = h.scores();
       const Term power = apply(Op::Exp, scores - reduce(Op::Max, scores, {2}));
       return std::vector{h.mixed(*h.f.done(power / reduce(Op::Sum, scores, {2})))};
     },
     false},
    {"along_queries",
     [](Heads& h) { return std::vector{h.mixed(*graph::softmax(h.b, *h.f.done(h.scores()), 1))}; },
     false},
    {"one_product", [](Heads& h) { return std::vector{h.shares(h.scores())}; }, false},
};

class Shapes : public testing::TestWithParam<size_t> {};

TEST_P(Shapes, AreTakenOrLeft) {
  const ShapeCase& one = kShapes[GetParam()];
  Heads heads;
  const std::vector<NodeId> outputs = one.outputs(heads);
  const Everything all(std::move(heads.b), outputs);
  EXPECT_EQ(attention_of(all.region).has_value(), one.taken);
}

INSTANTIATE_TEST_SUITE_P(Attention, Shapes, testing::Range<size_t>(0, std::size(kShapes)),
                         [](const auto& one) { return kShapes[one.param].name; });

TEST(Attention, KnowsItsOperands) {
  Heads heads;
  const NodeId y = heads.mixed(heads.shares(heads.scores()));
  const Everything all(std::move(heads.b), {y});
  const auto attention = attention_of(all.region);
  ASSERT_TRUE(attention);
  EXPECT_EQ(attention->rows().text(), "L");
  EXPECT_EQ(attention->keys().text(), "S");
  EXPECT_EQ(attention->depth().text(), "D");
  EXPECT_EQ(attention->width().text(), "F");
  EXPECT_EQ(attention->batches().value(), 3);
  EXPECT_FALSE(attention->nodes().empty_is_zero);
  for (const AttentionOperand* one :
       {&attention->query(), &attention->key(), &attention->value()}) {
    EXPECT_EQ(one->dtype, DType::Fp16) << one->name;
    EXPECT_TRUE(one->direct && one->aligned) << one->name;
    EXPECT_FALSE(one->across) << one->name;
  }
  EXPECT_EQ(*attention->value().aligned,
            (std::vector<std::string>{"(F * S) % 8 == 0", "F % 8 == 0"}));
}

TEST(Attention, TurnedKeysAreReadAcross) {
  Builder b;
  const NodeId q = b.input("q", DType::Fp32, {named_dim("L", 5), named_dim("D", 8)});
  const NodeId k = b.input("k", DType::Fp32, {named_dim("D", 8), named_dim("S", 7)});
  const NodeId v = b.input("v", DType::Fp32, {named_dim("S", 7), named_dim("F", 4)});
  const NodeId y = *b.matmul(*graph::softmax(b, *b.matmul(q, k), -1), v);
  const Everything all(std::move(b), {y});
  const auto attention = attention_of(all.region);
  ASSERT_TRUE(attention);
  EXPECT_TRUE(attention->key().across);
  EXPECT_FALSE(attention->key().aligned);
}

struct FactorCase {
  const char* name;
  Term (*scores)(Heads&);
  const char* factor;  // nullptr: a score is not only scaled
};

const FactorCase kFactors[] = {
    {"bare", [](Heads& h) { return h.scores(); }, ""},
    {"scaled", [](Heads& h) { return h.scores() * 0.25; }, "0.25f"},
    {"divided", [](Heads& h) { return h.scores() / 3.0; }, "1.0f / 3.0f"},
    {"by_its_depth",
     [](Heads& h) {
       const Dim depth = named_dim("D", 8);
       return h.scores() * apply(Op::Rsqrt, h.f(h.b.constant_dim(DType::Fp32, depth)));
     },
     "rsqrtf(static_cast<float>(D))"},
    {"turned_over", [](Heads& h) { return h.scores() * -0.25; }, nullptr},
    {"shifted", [](Heads& h) { return h.scores() * 0.25 + 1.0; }, nullptr},
    {"divides", [](Heads& h) { return Term(3.0) / h.scores(); }, nullptr},
};

class Factors : public testing::TestWithParam<size_t> {};

TEST_P(Factors, AreKnownWherePositive) {
  const FactorCase& one = kFactors[GetParam()];
  Heads heads;
  const NodeId y = heads.mixed(heads.shares(one.scores(heads)));
  const Everything all(std::move(heads.b), {y});
  const auto attention = attention_of(all.region);
  ASSERT_TRUE(attention);
  Emitter e(all.region, 1);
  attention->prepare(e);
  e.open(attention->batch_variables(), 0);
  const auto factor = attention->factor(e, attention->nodes().scores);
  ASSERT_EQ(factor.has_value(), one.factor != nullptr);
  EXPECT_EQ(factor.value_or(""), one.factor != nullptr ? one.factor : "");
}

INSTANTIATE_TEST_SUITE_P(Attention, Factors, testing::Range<size_t>(0, std::size(kFactors)),
                         [](const auto& one) { return kFactors[one.param].name; });

TEST(Attention, MasksHideScoresUnlessAProductDecides) {
  Heads heads;
  const Term given =
      heads.f(heads.b.input("mask", DType::Bool, {named_dim("L", 5), named_dim("S", 7)}));
  const Term scores = heads.scores();
  const NodeId y = heads.mixed(heads.shares(where(given, -INFINITY, scores * 0.25)));
  const Everything all(std::move(heads.b), {y});
  const auto attention = attention_of(all.region);
  ASSERT_TRUE(attention);
  const auto hidden = attention->hidden(attention->nodes().scores);
  ASSERT_TRUE(hidden);
  EXPECT_TRUE(hidden->when);
  EXPECT_FALSE(attention->hidden(hidden->below));

  Heads others;
  const Term own = others.scores();
  const NodeId z = others.mixed(others.shares(where(own > 0.0, own, -INFINITY)));
  const Everything rest(std::move(others.b), {z});
  const auto decided = attention_of(rest.region);
  ASSERT_TRUE(decided);
  EXPECT_FALSE(decided->hidden(decided->nodes().scores));
}

struct MaskCase {
  const char* name;
  Term (*seen)(Heads&);  // whether a query sees a key
  const char* reach;     // last key of row 0; nullptr: unknown
};

const MaskCase kMasks[] = {
    {"up_to_own", [](Heads& h) { return h.row() >= h.key(); }, "0"},
    {"before_own", [](Heads& h) { return h.row() > h.key(); }, "-1"},
    {"turned_around", [](Heads& h) { return h.key() <= h.row(); }, "0"},
    {"strictly_turned", [](Heads& h) { return h.key() < h.row() + 3; }, "2"},
    {"bottom_right",
     [](Heads& h) { return h.key() <= h.row() + Term(named_dim("S", 7) - named_dim("L", 5)); },
     "S - L"},
    {"not_hidden", [](Heads& h) { return apply(Op::Not, h.key() > h.row()); }, "0"},
    {"numbers",
     [](Heads& h) { return where(h.row() >= h.key(), Term(1.0), Term(0.0)) != Term(0.0); }, "0"},
    {"from_own_on", [](Heads& h) { return h.row() <= h.key(); }, nullptr},
    {"every_second", [](Heads& h) { return h.row() + h.row() >= h.key(); }, nullptr},
    {"as_given",
     [](Heads& h) {
       return h.f(h.b.input("mask", DType::Bool, {named_dim("L", 5), named_dim("S", 7)}));
     },
     nullptr},
};

class Masks : public testing::TestWithParam<size_t> {};

TEST_P(Masks, HideKeysBeyondTheirReach) {
  const MaskCase& one = kMasks[GetParam()];
  Heads heads;
  const Term scores = where(one.seen(heads), heads.scores(), -INFINITY);
  const NodeId y = heads.mixed(heads.shares(scores));
  const Everything all(std::move(heads.b), {y});
  const auto attention = attention_of(all.region);
  ASSERT_TRUE(attention);
  ASSERT_EQ(attention->causal().has_value(), one.reach != nullptr);
  if (one.reach == nullptr) return;
  EXPECT_EQ(attention->causal()->reach.text(), one.reach);
}

INSTANTIATE_TEST_SUITE_P(Attention, Masks, testing::Range<size_t>(0, std::size(kMasks)),
                         [](const auto& one) { return kMasks[one.param].name; });

}  // namespace
}  // namespace kw::generate
