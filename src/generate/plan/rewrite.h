// Copies a graph node by node, so that a pass handles only the nodes it changes.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "text/graph_names.h"

namespace kw::generate {

/// The number of reads of each node, by other nodes and as a result.
std::vector<int> uses_of(const Graph& graph);

/// The graph under construction.
class Rewriter {
 public:
  explicit Rewriter(const Graph& from) : from_(from) {}

  /// `change` returns the new node for an old one whose inputs are already new, or empty to keep
  /// it.
  Graph run(const std::function<std::optional<NodeId>(Rewriter&, const Node&)>& change);
  NodeId add(Node node);
  const Node& operator[](NodeId id) const { return to_[id]; }
  /// The constant of a node: itself or below expands and reshapes; nullptr if there is none.
  const Node* constant_under(NodeId id) const;
  /// A constant of this node's dtype and shape.
  NodeId filled(const Node& like, double number);

 private:
  const Graph& from_;
  Graph to_;
};

}  // namespace kw::generate
