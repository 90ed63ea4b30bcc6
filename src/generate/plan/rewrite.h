// Copies a graph node by node, so that a pass handles only the nodes it changes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::generate {

/// The number of reads of each node, by other nodes and as a result.
std::vector<int> uses_of(const graph::Graph& graph);

/// The graph under construction.
class Rewriter {
 public:
  explicit Rewriter(const graph::Graph& from) : from_(from) {}

  /// `change` returns the new node for an old one whose inputs are already new, or empty to keep
  /// it.
  graph::Graph run(
      const std::function<std::optional<graph::NodeId>(Rewriter&, const graph::Node&)>& change);
  graph::NodeId add(graph::Node node);
  const graph::Node& operator[](graph::NodeId id) const { return to_[id]; }
  /// The constant of a node: itself or below expands and reshapes; nullptr if there is none.
  const graph::Node* constant_under(graph::NodeId id) const;
  /// A constant of this node's dtype and shape.
  graph::NodeId filled(const graph::Node& like, double number);

 private:
  const graph::Graph& from_;
  graph::Graph to_;
};

}  // namespace kw::generate
