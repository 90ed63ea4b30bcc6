#include "attention/causal.h"

#include <cmath>

#include "graph/written_casts.h"

namespace kw::generate {

namespace {

/// Follows conditions down to a comparison of positions.
class Places {
 public:
  Places(const Region& region, const Ranges& ranges) : region_(region), ranges_(ranges) {}

  /// The keys for which a condition is `wanted`, true or false: those up to row + the returned
  /// value.
  std::optional<Dim> reach(NodeId id, const Index& index, bool wanted) const {
    if (region_.loads.count(id) > 0) return std::nullopt;
    const Node& node = region_.node(id);
    const auto& in = node.inputs;
    if (const auto below = moved(id, index)) return reach(in[0], *below, wanted);
    switch (node.op) {
      case Op::Cast:
        return reach(in[0], index, wanted);
      case Op::Not:
        return DType::Bool == node.dtype ? reach(in[0], index, !wanted) : std::nullopt;
      case Op::Where: {
        const auto yes = constant_of(region_, in[1]), no = constant_of(region_, in[2]);
        if (!yes || !no || (*yes != 0) == (*no != 0)) return std::nullopt;
        return reach(in[0], index, wanted == (*yes != 0));
      }
      case Op::Eq:
      case Op::Ne:
        if (constant_of(region_, in[1]) != std::optional<double>(0)) return std::nullopt;
        return reach(in[0], index, wanted == (node.op == Op::Ne));
      case Op::Ge:
      case Op::Gt:
      case Op::Le:
      case Op::Lt:
        return compared(node, index, wanted);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<Index> moved(NodeId id, const Index& index) const {
    const Node& node = region_.node(id);
    if (node.op == Op::Reshape) {
      return reshaped(node.shape, index, region_.node(node.inputs[0]).shape, ranges_);
    }
    if (node.op != Op::Expand) return std::nullopt;
    const Shape& shape = region_.node(node.inputs[0]).shape;
    Index below(index.end() - static_cast<long>(shape.size()), index.end());
    for (size_t d = 0; d < below.size(); ++d) {
      const Dim& to = node.shape[node.shape.size() - below.size() + d];
      if (!shape[d].same_text(to)) below[d] = Dim(0);
    }
    return below;
  }

  /// An integer as a sum of positions and dims.
  std::optional<Dim> place(NodeId id, const Index& index) const {
    if (region_.loads.count(id) > 0) return std::nullopt;
    const Node& node = region_.node(id);
    if (!is_integer(node.dtype)) return std::nullopt;
    if (const auto below = moved(id, index)) return place(node.inputs[0], *below);
    switch (node.op) {
      case Op::Iota:
        return index[static_cast<size_t>(node.attrs.dims[0])];
      case Op::Constant:
        if (!node.attrs.number_text.empty()) return std::nullopt;
        return node.attrs.starts.empty() ? Dim(node.attrs.integer) : node.attrs.starts[0];
      case Op::Cast:
        return place(node.inputs[0], index);
      case Op::Add:
      case Op::Sub: {
        const auto a = place(node.inputs[0], index), b = place(node.inputs[1], index);
        if (!a || !b) return std::nullopt;
        return node.op == Op::Add ? *a + *b : *a - *b;
      }
      default:
        return std::nullopt;
    }
  }

  // a >= b is a - b >= 0; its negation is b - a - 1 >= 0.
  std::optional<Dim> compared(const Node& node, const Index& index, bool wanted) const {
    const auto a = place(node.inputs[0], index), b = place(node.inputs[1], index);
    if (!a || !b) return std::nullopt;
    const bool greater = node.op == Op::Ge || node.op == Op::Gt;
    const bool strict = node.op == Op::Gt || node.op == Op::Lt;
    Dim room = greater ? *a - *b : *b - *a;
    if (strict) room = room - Dim(1);
    if (!wanted) room = Dim(0) - room - Dim(1);
    const Dim rest = room - variable("mi") + variable("ni");
    if (mentions(rest, "mi") || mentions(rest, "ni")) return std::nullopt;
    return rest;
  }

  const Region& region_;
  const Ranges& ranges_;
};

}  // namespace

std::optional<double> constant_of(const Region& region, NodeId id) {
  for (;;) {
    if (region.loads.count(id) > 0) return std::nullopt;
    const Node& node = region.node(id);
    if (node.op == Op::Constant) {
      if (!node.attrs.is_literal()) return std::nullopt;
      return is_floating(node.dtype) ? node.attrs.number : static_cast<double>(node.attrs.integer);
    }
    if (node.op != Op::Expand && node.op != Op::Reshape && node.op != Op::Cast) return std::nullopt;
    id = node.inputs[0];
  }
}

std::optional<Causal> causal_of(const Region& region, NodeId scores, const Index& index,
                                const Ranges& ranges) {
  while (region.loads.count(scores) == 0 && region.node(scores).op == Op::Cast &&
         !graph::is_cast_to_byte(*region.graph, region.node(scores))) {
    scores = region.node(scores).inputs[0];
  }
  const Node& choice = region.node(scores);
  if (region.loads.count(scores) > 0 || choice.op != Op::Where) return std::nullopt;
  for (const size_t hidden : {2, 1}) {
    if (constant_of(region, choice.inputs[hidden]) != std::optional<double>(-INFINITY)) continue;
    const auto reach = Places(region, ranges).reach(choice.inputs[0], index, hidden == 2);
    if (reach) return Causal{choice.inputs[3 - hidden], *reach};
  }
  return std::nullopt;
}

}  // namespace kw::generate
