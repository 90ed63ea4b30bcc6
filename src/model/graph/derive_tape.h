// What the rules of derive*.cpp share: the forward graph copied into a Builder, and the gradients
// gathered so far. Not for others.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "graph/term.h"

namespace kw::graph {

class Tape;
/// Hands the gradient `g` of a node on to what it was computed from.
using Rule = std::function<Status(Tape& tape, NodeId g)>;

class Tape {
 public:
  /// `active`: nodes whose gradients are worth having.
  Tape(const Graph& forward, std::vector<bool> active);
  /// Forward nodes keep their ids in `b`.
  Builder b;
  const Graph& forward;

  bool wants(NodeId id) const { return active_[static_cast<size_t>(id)]; }
  /// Adds to the node's gradient, in the node's dtype; ignored where nobody wants it.
  Status give(NodeId to, Result<NodeId> gradient);
  Status give(Formula& f, NodeId to, const Term& gradient);
  std::optional<NodeId> gradient(NodeId id) const;
  const std::vector<NodeId>& users(NodeId id) const { return users_[static_cast<size_t>(id)]; }
  /// The node as it is used: rounded, when a cast to a half type is its only user; without what a
  /// mask replaces by 0.
  NodeId seen(NodeId id) const;
  /// Every value follows from the inputs without rounding.
  bool exact(NodeId id) const { return exact_[static_cast<size_t>(id)]; }

 private:
  std::vector<bool> active_, exact_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> gradients_;
};

/// A tangent: a tensor, or a number that is the same for every element.
struct Slope {
  std::optional<Term> tensor;
  double number = 1;
};
Slope scaled(const Slope& t, const Term& factor);
Slope over(const Slope& t, const Term& divisor);
Slope scaled(const Slope& t, double factor);
Slope sum_of(const Slope& a, const Slope& b);
inline Slope operator*(const Slope& t, const Term& factor) { return scaled(t, factor); }
inline Slope operator*(const Slope& t, double factor) { return scaled(t, factor); }
inline Slope operator/(const Slope& t, const Term& divisor) { return over(t, divisor); }
inline Slope operator-(const Slope& t) { return scaled(t, -1.0); }
/// The tangent as a tensor of this dtype (rank 0 for a number).
Term term_of(Formula& f, const Slope& t, tensor::DType dtype);

/// t times the derivative of the pointwise node `y` by its operand; nothing where that is 0.
std::optional<Slope> local(Tape& tape, Formula& f, NodeId y, size_t operand, const Slope& t);

/// Pointwise nodes, together with the nodes of the same call that only they use.
Status derive_pointwise(Tape& tape, NodeId y, NodeId g, const std::map<NodeId, Rule>& closed);
Status derive_reduction(Tape& tape, NodeId y, NodeId g);
Status derive_scan(Tape& tape, NodeId y, NodeId g);
Status derive_selection(Tape& tape, NodeId y, NodeId g);
Status derive_mat_mul(Tape& tape, NodeId y, NodeId g);
Status derive_movement(Tape& tape, NodeId y, NodeId g);
Status derive_scatter(Tape& tape, NodeId y, NodeId g);

/// Compositions with a closed form, by the node that is their result: softmax and its like,
/// normalisation, variances.
std::map<NodeId, Rule> closed_forms(const Tape& tape);

/// The function a node was written as: "relu" of "relu_" and "aten.relu.default"; "" where the
/// origin is an expression.
std::string_view called(const Node& node);
/// A constant, expanded or not.
std::optional<double> constant_of(const Graph& graph, NodeId id);
/// A tensor of zeros like the node.
Result<NodeId> zeros_like(Builder& b, NodeId id);
/// Where `index` (extent 1 along `dim`) points: bool, of the shape of `x`.
Result<NodeId> one_hot_along(Builder& b, NodeId x, int dim, NodeId index);

}  // namespace kw::graph
