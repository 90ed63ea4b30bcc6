// The position of a window's largest element fits in one byte. If other kernels read it, memory
// should hold that byte instead of an 8-byte index.
#include <algorithm>

#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

constexpr int64_t kMostPlaces = 127;  // positions that a byte can hold

bool is_windowed(const Rewriter& r, NodeId id) {
  while (r[id].op == Op::Reshape || r[id].op == Op::Permute) id = r[id].inputs[0];
  return r[id].op == Op::Window;
}

bool is_short_place(const Rewriter& r, const Node& node) {
  if (node.op != Op::ArgMax && node.op != Op::ArgMin) return false;
  const Node& windows = r[node.inputs[0]];
  const bool few = std::ranges::all_of(node.attrs.dims, [&](int d) {
    const Dim& extent = windows.shape[static_cast<size_t>(d)];
    return extent.is_constant() && extent.value() <= kMostPlaces;
  });
  return few && is_windowed(r, node.inputs[0]);
}

NodeId cast_to(Rewriter& r, Node node, NodeId from, DType dtype) {
  node.op = Op::Cast;
  node.inputs = {from};
  node.dtype = dtype;
  node.attrs = {};
  return r.add(std::move(node));
}

}  // namespace

Graph short_places(const Graph& graph) {
  std::vector<bool> is_output(graph.nodes.size());
  for (const graph::NamedNode& output : graph.outputs) {
    is_output[static_cast<size_t>(output.node)] = true;
  }
  size_t old = 0;
  return Rewriter(graph).run([&](Rewriter& r, const Node& node) -> std::optional<NodeId> {
    const bool wanted_whole = is_output[old++];
    if (wanted_whole || !is_short_place(r, node)) return std::nullopt;
    const NodeId place = r.add(node);
    return cast_to(r, node, cast_to(r, node, place, DType::Int8), node.dtype);
  });
}

}  // namespace kw::generate
