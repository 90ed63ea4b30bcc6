// Shared by the rules in derive*.cpp: the forward graph copied into a Builder, and the gradients
// collected so far. Internal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/builder.h"
#include "graph/term.h"

namespace kw::graph {

class Tape;
/// Passes the gradient `g` of a node on to the node's inputs.
using Rule = std::function<Status(Tape& tape, NodeId g)>;

class Tape {
 public:
  /// `active`: the nodes that need gradients.
  Tape(const Graph& forward, std::vector<bool> active);
  /// Forward nodes have the same ids in `b`.
  Builder b;
  const Graph& forward;

  bool needs_gradient(NodeId id) const { return active_[static_cast<size_t>(id)]; }
  /// Adds to the node's gradient, in the node's dtype. Does nothing when the node is not active.
  Status give(NodeId to, Result<NodeId> gradient);
  Status give(Formula& f, NodeId to, const Term& gradient);
  std::optional<NodeId> gradient(NodeId id) const;
  const std::vector<NodeId>& users(NodeId id) const { return users_[static_cast<size_t>(id)]; }
  /// The node as its only user sees it: after a cast to a narrower float, or after a mask that
  /// replaces values by 0. Otherwise the node itself.
  NodeId seen(NodeId id) const;
  /// Whether every value follows from the inputs without rounding.
  bool exact(NodeId id) const { return exact_[static_cast<size_t>(id)]; }

 private:
  std::vector<bool> active_, exact_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<NodeId> gradients_;
};

/// A tangent: a tensor, or one number for all elements.
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
Term term_of(Formula& f, const Slope& t, DType dtype);

/// t times the derivative of the pointwise node `y` with respect to its operand; not set when it is
/// 0.
std::optional<Slope> local(Tape& tape, Formula& f, NodeId y, size_t operand, const Slope& t);

/// For pointwise nodes, together with the nodes of the same call that only they use.
Status derive_pointwise(Tape& tape, NodeId y, NodeId g, const std::map<NodeId, Rule>& closed);
Status derive_reduction(Tape& tape, NodeId y, NodeId g);
Status derive_scan(Tape& tape, NodeId y, NodeId g);
Status derive_selection(Tape& tape, NodeId y, NodeId g);
Status derive_mat_mul(Tape& tape, NodeId y, NodeId g);
Status derive_movement(Tape& tape, NodeId y, NodeId g);
Status derive_scatter(Tape& tape, NodeId y, NodeId g);

/// The rules of compositions with a closed form, by their result node: softmax and similar
/// functions, normalisation, variances.
std::map<NodeId, Rule> closed_forms(const Tape& tape);

/// The name of the function a node was written as: "relu" for "relu_" and "aten.relu.default". ""
/// when the origin is an expression.
std::string_view called(const Node& node);
/// The value of a constant, expanded or reshaped or not; not set for other nodes.
std::optional<double> constant_of(const Graph& graph, NodeId id);
/// A tensor of zeros like the node.
Result<NodeId> zeros_like(Builder& b, NodeId id);
/// Where `index` (extent 1 along `dim`) points: a bool tensor with the shape of `x`.
Result<NodeId> one_hot_along(Builder& b, NodeId x, int dim, NodeId index);

}  // namespace kw::graph
