// Copies a graph node by node, so that a pass only says what becomes of the nodes it cares about.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::generate {

/// How often each node is read, by others and as a result.
std::vector<int> uses_of(const graph::Graph& graph);

/// The graph under construction.
class Rewriter {
 public:
  explicit Rewriter(const graph::Graph& from) : from_(from) {}

  /// `change` gives the new node for an old one whose inputs are already new, or nothing to keep
  /// it.
  graph::Graph run(
      const std::function<std::optional<graph::NodeId>(Rewriter&, const graph::Node&)>& change);
  graph::NodeId add(graph::Node node);
  const graph::Node& operator[](graph::NodeId id) const { return to_[id]; }
  /// The constant behind a node: itself or under expands and reshapes; nullptr where there is none.
  const graph::Node* constant_under(graph::NodeId id) const;
  /// A constant of this node's dtype and shape.
  graph::NodeId filled(const graph::Node& like, double number);

 private:
  const graph::Graph& from_;
  graph::Graph to_;
};

}  // namespace kw::generate
