// A comparison with a bound can use the bounded value: after maximum(x, c), x <= c equals
// maximum(x, c) <= c, for NaN too. A gradient that needs the mask of a relu then reads the relu's
// result, and does not also read its input.
#include <cmath>
#include <map>
#include <tuple>

#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

/// The comparisons for which the bounded value gives the same answer.
bool answers(Op bounded, Op question) {
  return bounded == Op::Maximum ? question == Op::Le || question == Op::Gt
                                : question == Op::Ge || question == Op::Lt;
}

/// A bound: its kind, the bounded node and the constant, whatever its shape.
struct Bounding {
  Op op;
  NodeId x;
  double number;

  bool operator<(const Bounding& other) const {
    return std::tie(op, x, number) < std::tie(other.op, other.x, other.number);
  }
};

}  // namespace

Graph kept_signs(const Graph& graph) {
  std::map<Bounding, NodeId> bounded;
  return Rewriter(graph).run([&](Rewriter& r, const Node& node) -> std::optional<NodeId> {
    const bool bounds = node.op == Op::Maximum || node.op == Op::Minimum;
    const bool asks =
        node.op == Op::Le || node.op == Op::Gt || node.op == Op::Ge || node.op == Op::Lt;
    if (!bounds && !asks) return std::nullopt;
    const Node* constant = r.constant_under(node.inputs[1]);
    if (constant == nullptr || !tensor::is_float(constant->dtype) || !constant->attrs.is_literal())
      return std::nullopt;
    if (std::isnan(constant->attrs.number)) return std::nullopt;
    if (bounds) {
      const NodeId id = r.add(node);
      bounded.insert({{node.op, node.inputs[0], constant->attrs.number}, id});
      return id;
    }
    for (const Op op : {Op::Maximum, Op::Minimum}) {
      if (!answers(op, node.op)) continue;
      const auto found = bounded.find({op, node.inputs[0], constant->attrs.number});
      if (found == bounded.end()) continue;
      Node other = node;
      other.inputs[0] = found->second;
      return r.add(std::move(other));
    }
    return std::nullopt;
  });
}

}  // namespace kw::generate
