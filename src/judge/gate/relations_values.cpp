// The problem: predict how the outputs change when one input is scaled, shifted or split. Each
// change is followed op by op: every node gets a known amount (degree, shift, linear or not) or
// "unknown". A relation is claimed only if every output has a known amount. The alternative,
// testing relations numerically, could claim a relation that holds only for the drawn values. The
// cost: ops without a rule give "unknown", so some valid relations are not found.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "gate/metamorphic.h"
#include "graph/written_casts.h"
#include "ops/op_groups.h"

namespace kw::gate {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;

/// A node's response: an amount (degree, shift, 0 or 1 for linear), or unknown.
struct Answer {
  bool known = true;
  bool zero = false;
  double amount = 0;
};
constexpr Answer kUnknown{false, false, 0};
constexpr Answer kZero{true, true, 0};
Answer of(double amount) { return {true, false, std::fabs(amount) < 1e-9 ? 0 : amount}; }
/// A multiple may be as small as a constant of the graph.
Answer multiple(double amount) { return {true, false, amount}; }
/// What is left of two multiples that cancel is rounding.
Answer added(double one, double other) {
  const double sum = one + other;
  const double size = std::max(std::fabs(one), std::fabs(other));
  return multiple(std::fabs(sum) < 1e-9 * size ? 0 : sum);
}

bool is_selection_of_values(Op op) {
  return op == Op::Max || op == Op::Min || op == Op::CumMax || op == Op::CumMin ||
         op == Op::SortValues || op == Op::TopKValues;
}

/// Follows one kind of change from one input to the outputs.
class Following {
 public:
  Following(const Graph& graph, int input)
      : graph_(graph), input_(input), snaps_(graph::snapping_casts(graph)) {}
  virtual ~Following() = default;

  std::optional<std::vector<double>> outputs() {
    for (const Node& node : graph_.nodes) answers_.push_back(follow(node));
    std::vector<double> amounts;
    for (const graph::NamedNode& output : graph_.outputs) {
      const Answer& answer = at(output.node);
      if (!answer.known) return std::nullopt;
      amounts.push_back(answer.amount);
    }
    return amounts;
  }

 protected:
  /// For ops without a shared rule; the response of every operand is known.
  virtual Answer pointwise(const Node& node) const = 0;
  virtual Answer sum(const Node& node, const Answer& x) const = 0;
  virtual Answer matmul(const Answer& a, const Answer& b) const = 0;
  /// Returns whether selection by order (max, sort, comparisons) keeps the response.
  virtual bool ordered() const = 0;
  /// Returns whether a constant zero is compatible with any amount.
  virtual bool zero_agrees() const { return true; }

  const Answer& at(NodeId id) const { return answers_[static_cast<size_t>(id)]; }
  const Answer& operand(const Node& node, size_t i) const { return at(node.inputs[i]); }
  bool still(const Answer& answer) const { return answer.known && answer.amount == 0; }

  /// Returns the value of a node that is one constant throughout; otherwise not set.
  std::optional<double> constant(NodeId id) const {
    const Node* node = &graph_[id];
    while (node->op == Op::Expand || node->op == Op::Reshape || node->op == Op::Cast)
      node = &graph_[node->inputs[0]];
    if (node->op != Op::Constant) return std::nullopt;
    return tensor::is_float(node->dtype) ? node->attrs.number
                                         : static_cast<double>(node->attrs.integer);
  }

  /// Returns the common response of all operands from `first` on; unknown if they differ.
  Answer alike(const Node& node, size_t first = 0) const {
    std::optional<Answer> common;  // a first zero counts where it does not agree
    for (size_t i = first; i < node.inputs.size(); ++i) {
      const Answer& answer = operand(node, i);
      if (!answer.known) return kUnknown;
      if (answer.zero && zero_agrees()) continue;
      if (common && common->amount != answer.amount) return kUnknown;
      common = answer;
    }
    return common.value_or(kZero);
  }

  int64_t reduced_count(const Node& node) const {
    int64_t count = 1;
    for (const int dim : node.attrs.dims)
      count *= graph_[node.inputs[0]].shape[static_cast<size_t>(dim)].value();
    return count;
  }

  const Graph& graph_;

 private:
  Answer follow(const Node& node) const {
    if (node.op == Op::Input) return of(node.attrs.integer == input_ ? 1 : 0);
    if (node.op == Op::Constant) {
      const bool zero =
          tensor::is_float(node.dtype) ? node.attrs.number == 0 : node.attrs.integer == 0;
      return zero ? kZero : of(0);
    }
    if (std::ranges::any_of(node.inputs, [this](NodeId id) { return !at(id).known; }))
      return kUnknown;
    if (std::ranges::all_of(node.inputs,
                            [this](NodeId id) { return still(at(id)) && !at(id).zero; }))
      return of(0);
    switch (graph::op_info(node.op).kind) {
      case OpKind::Movement:
        return movement(node);
      case OpKind::Contraction:
        return matmul(operand(node, 0), operand(node, 1));
      case OpKind::Pointwise:
        return common_pointwise(node);
      default:
        return along(node);
    }
  }

  Answer along(const Node& node) const {
    const Answer& x = operand(node, 0);
    if (node.op == Op::Sum || node.op == Op::CumSum) return sum(node, x);
    if (is_selection_of_values(node.op)) return ordered() ? x : kUnknown;
    if (ops::gives_position(node.op)) return ordered() ? of(0) : kUnknown;
    return still(x) ? of(0) : kUnknown;
  }

  Answer movement(const Node& node) const {
    switch (node.op) {
      case Op::Concat:
        return alike(node);
      case Op::Gather:
      case Op::IndexSelect:
        return still(operand(node, 1)) ? operand(node, 0) : kUnknown;
      case Op::Scatter: {
        const bool adds = node.attrs.scatter == graph::ScatterMode::Set ||
                          node.attrs.scatter == graph::ScatterMode::Add;
        if (!adds || !still(operand(node, 1))) return kUnknown;
        const Answer& base = operand(node, 0);
        const Answer& source = operand(node, 2);
        if (base.zero) return zero_agrees() ? source : kUnknown;
        return base.amount == source.amount && zero_agrees() ? base : kUnknown;
      }
      case Op::Pad: {
        // Scaling or shifting does not change an infinity.
        const bool agrees =
            std::isinf(node.attrs.number) || (node.attrs.number == 0 && zero_agrees());
        if (agrees) return operand(node, 0);
        return still(operand(node, 0)) ? of(0) : kUnknown;
      }
      case Op::Fold:  // a shift is added once per overlapping window
        return zero_agrees() || still(operand(node, 0)) ? operand(node, 0) : kUnknown;
      default:
        return operand(node, 0);
    }
  }

  Answer common_pointwise(const Node& node) const {
    if (node.op == Op::Cast) {
      const bool to_float =
          tensor::is_float(node.dtype) && !snaps_[static_cast<size_t>(&node - graph_.nodes.data())];
      return to_float || still(operand(node, 0)) ? operand(node, 0) : kUnknown;
    }
    if (node.op == Op::Where) return still(operand(node, 0)) ? alike(node, 1) : kUnknown;
    if (ops::is_extremum(node.op)) return ordered() ? alike(node) : kUnknown;
    if (ops::is_comparison(node.op)) {
      if (!ordered()) return kUnknown;
      return alike(node).known ? of(0) : kUnknown;
    }
    return pointwise(node);
  }

  int input_;
  std::vector<bool> snaps_;
  std::vector<Answer> answers_;
};

Answer when_still(const Answer& a, const Answer& b) {
  const bool still = a.known && b.known && a.amount == 0 && b.amount == 0;
  return still ? of(0) : kUnknown;
}

/// x -> s x, s > 0: the power of s in the result.
class Scaling final : public Following {
 public:
  using Following::Following;

 protected:
  bool ordered() const override { return true; }
  Answer sum(const Node&, const Answer& x) const override { return x; }
  Answer matmul(const Answer& a, const Answer& b) const override {
    return a.zero || b.zero ? kZero : of(a.amount + b.amount);
  }

  Answer pointwise(const Node& node) const override {
    const Answer& x = operand(node, 0);
    switch (node.op) {
      case Op::Neg:
      case Op::Abs:
        return x;
      case Op::Sign:
        return of(0);
      case Op::Sqrt:
        return x.zero ? kZero : of(x.amount / 2);
      case Op::Rsqrt:
        return of(-x.amount / 2);
      case Op::Reciprocal:
        return of(-x.amount);
      case Op::Add:
      case Op::Sub:
      case Op::Hypot:
      case Op::Fmod:
      case Op::Remainder:
        return alike(node);
      case Op::Mul:
        return matmul(x, operand(node, 1));
      case Op::Div:
        return x.zero ? kZero : of(x.amount - operand(node, 1).amount);
      case Op::Copysign:
        return x;
      case Op::Pow: {
        const std::optional<double> power = constant(node.inputs[1]);
        return power ? of(x.amount * *power) : when_still(x, operand(node, 1));
      }
      default:
        return node.inputs.size() == 1 ? (still(x) ? of(0) : kUnknown)
                                       : when_still(x, operand(node, 1));
    }
  }
};

/// x -> x + c: the multiple of c in the result.
class Shifting final : public Following {
 public:
  using Following::Following;

 protected:
  bool ordered() const override { return true; }
  Answer matmul(const Answer& a, const Answer& b) const override { return when_still(a, b); }
  Answer sum(const Node& node, const Answer& x) const override {
    if (still(x)) return of(0);
    return node.op == Op::Sum ? multiple(x.amount * static_cast<double>(reduced_count(node)))
                              : kUnknown;
  }

  Answer pointwise(const Node& node) const override {
    const Answer& x = operand(node, 0);
    if (node.inputs.size() == 1) {
      if (node.op == Op::Neg) return multiple(-x.amount);
      return still(x) ? of(0) : kUnknown;
    }
    const Answer& y = operand(node, 1);
    const std::optional<double> left = constant(node.inputs[0]), right = constant(node.inputs[1]);
    switch (node.op) {
      case Op::Add:
        return added(x.amount, y.amount);
      case Op::Sub:
        return added(x.amount, -y.amount);
      case Op::Mul:
        if (right) return multiple(x.amount * *right);
        return left ? multiple(*left * y.amount) : when_still(x, y);
      case Op::Div:
        return right && *right != 0 ? multiple(x.amount / *right) : when_still(x, y);
      default:
        return when_still(x, y);
    }
  }

 private:
  bool zero_agrees() const override { return false; }
};

/// Linear in the input (1), or independent of it (0).
class Splitting final : public Following {
 public:
  using Following::Following;

 protected:
  bool ordered() const override { return false; }
  Answer sum(const Node&, const Answer& x) const override { return x; }
  Answer matmul(const Answer& a, const Answer& b) const override {
    if (a.zero || b.zero) return kZero;
    return a.amount + b.amount <= 1 ? of(a.amount + b.amount) : kUnknown;
  }

  Answer pointwise(const Node& node) const override {
    const Answer& x = operand(node, 0);
    if (node.inputs.size() == 1) {
      if (node.op == Op::Neg) return x;
      return still(x) ? of(0) : kUnknown;
    }
    const Answer& y = operand(node, 1);
    switch (node.op) {
      case Op::Add:
      case Op::Sub:
        return alike(node);
      case Op::Mul:
        return matmul(x, y);
      case Op::Div:
        return still(y) ? x : kUnknown;
      default:
        return when_still(x, y);
    }
  }
};

}  // namespace

std::vector<Relation> value_relations(const Graph& graph) {
  std::vector<Relation> relations;
  for (int i = 0; i < static_cast<int>(graph.inputs.size()); ++i) {
    const graph::NamedNode& input = graph.inputs[static_cast<size_t>(i)];
    if (!tensor::is_float(graph[input.node].dtype)) continue;
    const auto add = [&](RelationKind kind, std::string what, std::vector<double> amounts) {
      Relation relation;
      relation.kind = kind;
      relation.what = std::move(what);
      relation.input = i;
      relation.amounts = std::move(amounts);
      relations.push_back(std::move(relation));
    };
    if (const auto degrees = Scaling(graph, i).outputs())
      add(RelationKind::Scale, fmt::format("the result follows the scale of {}", input.name),
          *degrees);
    if (const auto shifts = Shifting(graph, i).outputs())
      add(RelationKind::Shift, fmt::format("the result follows a shift of {}", input.name),
          *shifts);
    const auto linear = Splitting(graph, i).outputs();
    if (linear && std::ranges::all_of(*linear, [](double v) { return v == 1; }) &&
        contains(*linear, 1))
      add(RelationKind::Linear, fmt::format("the result is linear in {}", input.name), *linear);
  }
  return relations;
}

}  // namespace kw::gate
