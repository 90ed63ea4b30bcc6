// Movement ops as index arithmetic: the value of a moved element is that of its source at another
// index. The choice is to rewrite the index on the way to the load, so that no moved tensor exists.
// Padding and joining become conditions around the load. The alternative, a copy kernel per
// movement, would cost a pass over memory. The cost is index arithmetic that every element repeats.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emitter.h"
#include "emit/reshapes.h"

namespace kw::generate {

namespace {

Value padded_value(Emitter& e, NodeId id, const Index& index) {
  const Node& node = e.region().node(id);
  const Node& input = e.region().node(node.inputs[0]);
  std::vector<std::string> tests;
  std::vector<Bound> bounds;
  Index at = index;
  int level = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    const size_t before = tests.size();
    const Dim& front = node.attrs.starts[d];
    if (front.same_text(Dim(0)) && node.shape[d].same_text(input.shape[d])) continue;
    level = std::max(level, e.level_of(index[d]));
    const Dim end = front + input.shape[d];
    if (!never_negative(index[d] - front))
      tests.push_back(e.text(index[d]) + " >= " + e.text(front));
    if (!end.same_text(node.shape[d]) && !surely_below(index[d], end, e.ranges)) {
      tests.push_back(e.text(index[d]) + " < " + e.text(end));
    }
    at[d] = index[d] - front;
    if (tests.size() > before) bounds.push_back({index[d], front, end});
  }
  if (tests.empty()) return e.value(node.inputs[0], at);
  const Emitter::Guarded inner = e.under(
      join(tests, " && "), level, [&] { return e.value(node.inputs[0], at); }, bounds);
  const std::string fill =
      literal(node.dtype, node.attrs.number, static_cast<int64_t>(node.attrs.number));
  return inner.or_else({{fill}, 0});
}

Value joined_value(Emitter& e, NodeId id, const Index& index) {
  const Node& node = e.region().node(id);
  const auto along = static_cast<size_t>(node.attrs.dims[0]);
  const int level = e.level_of(index[along]);
  std::vector<Emitter::Guarded> pieces;
  Dim start(0);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Dim end = start + e.region().node(node.inputs[i]).shape[along];
    Index at = index;
    at[along] = index[along] - start;
    std::string test = e.text(index[along]) + " < " + e.text(end);
    if (i > 0) test = e.text(index[along]) + " >= " + e.text(start) + " && " + test;
    pieces.push_back(e.under(test, level, [&] { return e.value(node.inputs[i], at); }));
    start = end;
  }
  Value out{{literal(node.dtype, 0, 0)}, level};
  for (size_t i = pieces.size(); i-- > 0;) out = pieces[i].or_else(out);
  return out;
}

Dim index_variable(Emitter& e, NodeId node, const Index& index, const Dim& extent) {
  Value at = e.value(node, index);
  const std::string name =
      e.declare(at.level, "Index", "picked", fmt::format("static_cast<Index>({})", at.expr.text));
  e.ranges.insert_or_assign(name, extent);
  return variable(name);
}

Value picked_value(Emitter& e, NodeId id, const Index& index) {
  const Node& node = e.region().node(id);
  const auto along = static_cast<size_t>(node.attrs.dims[0]);
  const Dim& extent = e.region().node(node.inputs[0]).shape[along];
  Index at = index;
  at[along] = node.op == Op::Gather ? index_variable(e, node.inputs[1], index, extent)
                                    : index_variable(e, node.inputs[1], {index[along]}, extent);
  return e.value(node.inputs[0], at);
}

}  // namespace

Value moved_value(Emitter& e, NodeId id, const Index& index) {
  const Node& node = e.region().node(id);
  const Node& input = e.region().node(node.inputs[0]);
  Index at = index;
  switch (node.op) {
    case Op::Reshape: {
      const NodeId before = before_reshapes(e.region(), id);
      const auto loaded = e.region().loads.find(before);
      if (loaded != e.region().loads.end())
        return e.load(loaded->second, linear(node.shape, index));
      return e.value(before, reshaped(node.shape, index, e.region().node(before).shape, e.ranges));
    }
    case Op::Permute:
      for (size_t d = 0; d < at.size(); ++d) at[static_cast<size_t>(node.attrs.dims[d])] = index[d];
      break;
    case Op::Expand: {
      at.erase(at.begin(), at.end() - static_cast<long>(input.shape.size()));
      for (size_t d = 0; d < at.size(); ++d) {
        const Dim& to = node.shape[node.shape.size() - at.size() + d];
        const bool grows = input.shape[d].is_constant() && input.shape[d].value() == 1;
        if (grows || (input.shape[d].value() == 1 && !input.shape[d].same_text(to))) at[d] = Dim(0);
      }
      break;
    }
    case Op::Slice:
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] = node.attrs.starts[d] + at[d] * Dim(node.attrs.steps[d]);
      }
      break;
    case Op::Flip:
      for (const int dim : node.attrs.dims) {
        const auto d = static_cast<size_t>(dim);
        at[d] = node.shape[d] - Dim(1) - at[d];
      }
      break;
    case Op::Window: {
      const auto d = static_cast<size_t>(node.attrs.dims[0]);
      at.pop_back();
      at[d] = index[d] * Dim(node.attrs.steps[0]) + index.back() * Dim(node.attrs.steps[1]);
      break;
    }
    case Op::Pad:
      return padded_value(e, id, index);
    case Op::Concat:
      return joined_value(e, id, index);
    default:
      return picked_value(e, id, index);
  }
  return e.value(node.inputs[0], at);
}

}  // namespace kw::generate
