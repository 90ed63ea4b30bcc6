// Cheaper forms of the same numbers: powers with small exponents and division by a power of two
// become products. The new form never rounds more than the old one.
#include <cmath>

#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

NodeId apply(Rewriter& r, const Node& like, Op op, std::vector<NodeId> inputs) {
  Node node = like;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = {};
  return r.add(std::move(node));
}

std::optional<NodeId> power(Rewriter& r, const Node& node, double exponent) {
  const NodeId x = node.inputs[0];
  if (exponent == 1) return x;
  if (exponent == 2) return apply(r, node, Op::Mul, {x, x});
  if (exponent == 3) return apply(r, node, Op::Mul, {apply(r, node, Op::Mul, {x, x}), x});
  if (exponent == -1) return apply(r, node, Op::Reciprocal, {x});
  return std::nullopt;
}

bool is_power_of_two(double number) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  return std::isfinite(number) && fraction == 0.5 && exponent > -100 && exponent < 100;
}

std::optional<NodeId> change(Rewriter& r, const Node& node) {
  if (node.op != Op::Pow && node.op != Op::Div) return std::nullopt;
  if (!in_float(node.dtype) && node.dtype != DType::Fp64) return std::nullopt;
  const Node* constant = r.constant_under(node.inputs[1]);
  if (constant == nullptr || !constant->attrs.is_literal()) return std::nullopt;
  const double number = constant->attrs.number;
  if (node.op == Op::Pow) return power(r, node, number);
  if (!is_power_of_two(number)) return std::nullopt;
  return apply(r, node, Op::Mul, {node.inputs[0], r.filled(node, 1 / number)});
}

}  // namespace

Graph decompose(const Graph& graph) { return Rewriter(graph).run(change); }

}  // namespace kw::generate
