// Arithmetic on constants, done once here: in double, rounded to the node's precision.
#include <cmath>

#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

std::optional<double> folded(Op op, double a, double b) {
  switch (op) {
    case Op::Neg:
      return -a;
    case Op::Abs:
      return std::fabs(a);
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Exp:
      return std::exp(a);
    case Op::Log:
      return std::log(a);
    case Op::Reciprocal:
      return 1 / a;
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    default:
      return std::nullopt;
  }
}

bool is_plain_float(const Node& node) {
  return node.dtype == DType::Fp32 || node.dtype == DType::Fp64 || is_half(node.dtype);
}

std::optional<NodeId> fold(Rewriter& r, const Node& node) {
  if (!is_plain_float(node) || node.inputs.empty()) return std::nullopt;
  double values[2] = {0, 0};
  if (node.inputs.size() > 2) return std::nullopt;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* constant = r.constant_under(node.inputs[i]);
    const bool usable =
        constant != nullptr && constant->attrs.is_literal() && constant->dtype == node.dtype;
    if (!usable) return std::nullopt;
    values[i] = constant->attrs.number;
  }
  const std::optional<double> number = folded(node.op, values[0], values[1]);
  if (!number) return std::nullopt;
  const bool wide = node.dtype == DType::Fp64;
  return r.filled(node, wide ? *number : static_cast<double>(static_cast<float>(*number)));
}

}  // namespace

Graph fold_constants(const Graph& graph) { return Rewriter(graph).run(fold); }

}  // namespace kw::generate
