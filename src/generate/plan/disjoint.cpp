// A fold of adjacent windows adds nothing: every element belongs to one window. As movement it
// costs no sum, and a value that a window shares is computed once for all its elements.
#include <algorithm>
#include <numeric>

#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

/// Moves the taps, the last dim, behind the windows they belong to.
Node taps_beside_windows(const Node& fold, const Node& windows, NodeId below) {
  Node node = fold;
  node.op = Op::Permute;
  node.inputs = {below};
  const auto along = static_cast<size_t>(fold.attrs.dims[0]);
  std::vector<int> order(windows.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + static_cast<long>(along) + 1, order.end() - 1, order.end());
  node.attrs = {};
  node.attrs.dims = order;
  node.shape.clear();
  for (const int d : order) node.shape.push_back(windows.shape[static_cast<size_t>(d)]);
  return node;
}

std::optional<NodeId> moved(Rewriter& r, const Node& fold) {
  const NodeId below = fold.inputs[0];
  const Node windows = r[below];
  const int64_t stride = fold.attrs.steps[0];
  const Dim& taps = windows.shape.back();
  if (fold.attrs.steps[1] != 1 || !taps.is_constant() || taps.value() != stride) {
    return std::nullopt;
  }
  const auto along = static_cast<size_t>(fold.attrs.dims[0]);
  const NodeId beside = r.add(taps_beside_windows(fold, windows, below));
  Node joined = fold;
  joined.op = Op::Reshape;
  joined.inputs = {beside};
  joined.attrs = {};
  joined.shape[along] = windows.shape[along] * Dim(stride);
  const bool all = joined.shape[along].same_text(fold.shape[along]);
  const NodeId line = r.add(std::move(joined));
  if (all) return line;
  Node rest = fold;
  rest.op = Op::Pad;
  rest.inputs = {line};
  rest.attrs = {};
  rest.attrs.starts.assign(rest.shape.size(), Dim(0));
  return r.add(std::move(rest));
}

}  // namespace

Graph disjoint(const Graph& graph) {
  return Rewriter(graph).run([](Rewriter& r, const Node& node) -> std::optional<NodeId> {
    return node.op == Op::Fold ? moved(r, node) : std::nullopt;
  });
}

}  // namespace kw::generate
