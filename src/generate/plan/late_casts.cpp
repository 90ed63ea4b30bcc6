// Half elements that are read through windows stay halves until they are used, so that their
// product can run on tensor cores. A widening cast loses nothing, so it may come after any
// movement.
#include <algorithm>
#include <cmath>

#include "emit/emit.h"
#include "graph/movement.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

/// Whether the cast may come after this node: a fill value must be exact in a half type.
bool moves_halves(const Node& node) {
  const bool fills = node.op == Op::Pad && node.attrs.number != 0 && !std::isinf(node.attrs.number);
  return graph::only_moves(node.op) && !fills;
}

std::optional<NodeId> cast_later(Rewriter& r, const Node& node) {
  if (!moves_halves(node)) return std::nullopt;
  const Node cast = r[node.inputs[0]];
  if (cast.op != Op::Cast || cast.dtype != DType::Fp32) return std::nullopt;
  const DType narrow = r[cast.inputs[0]].dtype;
  if (!is_half(narrow)) return std::nullopt;
  Node moved = node;
  moved.inputs = cast.inputs;
  moved.dtype = narrow;
  Node wide = cast;
  wide.shape = node.shape;
  wide.inputs = {r.add(std::move(moved))};
  return r.add(std::move(wide));
}

}  // namespace

Graph late_casts(const Graph& graph) {
  const bool has_windows =
      std::ranges::any_of(graph.nodes, [](const Node& node) { return node.op == Op::Window; });
  return has_windows ? Rewriter(graph).run(cast_later) : graph;
}

}  // namespace kw::generate
