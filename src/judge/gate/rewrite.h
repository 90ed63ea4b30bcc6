// Copies a graph node by node while something else is put in the place of some. Internal to the
// imposters.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::gate {

class Rewriter {
 public:
  /// Asked for every node of the old graph, with its id there; what it returns takes the node's
  /// place. Nothing: the node is copied.
  using Replace = std::function<std::optional<graph::NodeId>(Rewriter&, graph::NodeId)>;

  explicit Rewriter(const graph::Graph& from) : from_(from) {}
  graph::Graph run(const Replace& replace);

  const graph::Graph& from() const { return from_; }
  /// The new node for an old one that came before.
  graph::NodeId mapped(graph::NodeId old) const { return map_[static_cast<size_t>(old)]; }
  /// The old node with its inputs mapped, added as it is.
  graph::NodeId copy(graph::NodeId old);
  graph::NodeId add(graph::Node node);

  // Small nodes, with dtype and shape as their first operand has them.
  graph::NodeId constant(graph::NodeId like, double value);  // expanded to the shape of `like`
  graph::NodeId binary(graph::Op op, graph::NodeId a, graph::NodeId b);
  graph::NodeId cast(graph::NodeId x, tensor::DType to);
  graph::NodeId every_other(graph::NodeId x, int dim);
  /// A further parameter of the graph, in the place of a node like this.
  graph::NodeId parameter(const graph::Node& like);

  const graph::Node& operator[](graph::NodeId id) const { return to_[id]; }

 private:
  const graph::Graph& from_;
  graph::Graph to_;
  std::vector<graph::NodeId> map_;
  std::vector<graph::NodeId> parameters_;
};

}  // namespace kw::gate
