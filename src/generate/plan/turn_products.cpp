// A transposed product is the product of the transposed and exchanged operands. Operands can be
// read in either order; results are best written in memory order.
#include <numeric>

#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

/// The dims 0, 1, …, r - 1, r - 2.
std::vector<int> last_two_exchanged(size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

NodeId turned(Rewriter& r, NodeId id) {
  Node node = r[id];
  const size_t rank = node.shape.size();
  node.op = Op::Permute;
  node.inputs = {id};
  node.attrs = {};
  node.attrs.dims = last_two_exchanged(rank);
  std::swap(node.shape[rank - 1], node.shape[rank - 2]);
  return r.add(std::move(node));
}

}  // namespace

Graph turn_products(const Graph& graph) {
  const std::vector<int> uses = uses_of(graph);
  size_t next = 0;
  return Rewriter(graph).run([&](Rewriter& r, const Node& node) -> std::optional<NodeId> {
    const Node& old = graph.nodes[next++];
    if (old.op != Op::Permute || uses[static_cast<size_t>(old.inputs[0])] != 1) return std::nullopt;
    const Node product = r[node.inputs[0]];
    if (product.op != Op::MatMul || node.attrs.dims != last_two_exchanged(node.shape.size()))
      return std::nullopt;
    Node other = product;
    other.shape = node.shape;
    other.inputs = {turned(r, product.inputs[1]), turned(r, product.inputs[0])};
    return r.add(std::move(other));
  });
}

}  // namespace kw::generate
