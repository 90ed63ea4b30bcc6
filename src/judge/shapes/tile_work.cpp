#include "shapes/tile_work.h"

#include <algorithm>

namespace kw::shapes {
namespace {

constexpr int64_t kRows = 64, kColumns = 128;  // of a tile

int64_t tiles(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

double tiled_product(const graph::Graph& graph, const graph::Node& node) {
  const size_t rank = node.shape.size();
  double work = 2.0 * static_cast<double>(graph[node.inputs[0]].shape.back().value());
  for (size_t i = 0; i < rank; ++i) {
    const int64_t extent = node.shape[i].value();
    const int64_t tile = i + 2 == rank || i + 1 == rank ? kRows : 1;
    work *= static_cast<double>(tiles(extent, tile) * tile);
  }
  return work;
}

}  // namespace

double tile_work(const graph::Graph& graph) {
  double work = 0;
  for (const graph::Node& node : graph.nodes) {
    if (node.op == graph::Op::MatMul) work += tiled_product(graph, node);
  }
  return work;
}

double nested_tile_work(const graph::Graph& graph) {
  // Work of the products that a node depends on: directly, and through an exponential. Below an
  // exponential they stay in registers.
  struct Below {
    double plain = 0, exponential = 0;
  };
  std::vector<Below> below(graph.nodes.size());
  double most = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    Below made;
    for (const graph::NodeId input : node.inputs) {
      const Below& from = below[static_cast<size_t>(input)];
      made.plain = std::max(made.plain, from.plain);
      made.exponential = std::max(made.exponential, from.exponential);
    }
    if (node.op == graph::Op::Exp) made.exponential = std::max(made.exponential, made.plain);
    if (node.op == graph::Op::MatMul) {
      if (made.exponential > 0)
        most = std::max(most, made.exponential *
                                  static_cast<double>(tiles(node.shape.back().value(), kColumns)));
      made = {tiled_product(graph, node), 0};
    }
    below[i] = made;
  }
  return most;
}

}  // namespace kw::shapes
