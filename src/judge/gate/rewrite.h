// Copies a graph node by node and replaces some nodes. Internal to the imposters.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::gate {

class Rewriter {
 public:
  /// Called for every node of the old graph, with its id there. The returned node replaces it; not
  /// set: the node is copied.
  using Replace = std::function<std::optional<graph::NodeId>(Rewriter&, graph::NodeId)>;

  explicit Rewriter(const graph::Graph& from) : from_(from) {}
  graph::Graph run(const Replace& replace);

  const graph::Graph& from() const { return from_; }
  /// Returns the new node for an earlier old one.
  graph::NodeId mapped(graph::NodeId old) const { return map_[static_cast<size_t>(old)]; }
  /// Adds a copy of the old node with its inputs mapped.
  graph::NodeId copy(graph::NodeId old);
  graph::NodeId add(graph::Node node);

  // Helpers that add a node with the dtype and shape of its first operand.
  graph::NodeId constant(graph::NodeId like, double value);  // in the shape of `like`
  graph::NodeId binary(graph::Op op, graph::NodeId a, graph::NodeId b);
  graph::NodeId cast(graph::NodeId x, tensor::DType to);
  graph::NodeId every_other(graph::NodeId x, int dim);
  /// Adds an input to the graph that replaces a node like this.
  graph::NodeId parameter(const graph::Node& like);

  const graph::Node& operator[](graph::NodeId id) const { return to_[id]; }

 private:
  const graph::Graph& from_;
  graph::Graph to_;
  std::vector<graph::NodeId> map_;
  std::vector<graph::NodeId> parameters_;
};

}  // namespace kw::gate
