// Softmax divides every element by its row's sum. The sum is at least 1, because its largest term
// is exp(0). Its reciprocal is therefore safe, and one division per row is enough.
#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

bool is_softmax_sum(const Rewriter& r, const Node& sum) {
  if (sum.op != Op::Sum) return false;
  const Node& exponential = r[sum.inputs[0]];
  if (exponential.op != Op::Exp) return false;
  const Node& shifted = r[exponential.inputs[0]];
  if (shifted.op != Op::Sub) return false;
  const Node& expanded = r[shifted.inputs[1]];
  if (expanded.op != Op::Expand) return false;
  const Node& largest = r[expanded.inputs[0]];
  return largest.op == Op::Max && largest.inputs[0] == shifted.inputs[0] &&
         largest.attrs.dims == sum.attrs.dims;
}

std::optional<NodeId> invert(Rewriter& r, const Node& node) {
  if (node.op != Op::Div || !in_float(node.dtype)) return std::nullopt;
  const Node divisor = r[node.inputs[1]];
  if (divisor.op != Op::Expand || !is_softmax_sum(r, r[divisor.inputs[0]])) return std::nullopt;
  Node inverse = r[divisor.inputs[0]];
  inverse.op = Op::Reciprocal;
  inverse.inputs = {divisor.inputs[0]};
  inverse.attrs = {};
  Node expanded = divisor;
  expanded.inputs = {r.add(std::move(inverse))};
  Node product = node;
  product.op = Op::Mul;
  product.inputs[1] = r.add(std::move(expanded));
  return r.add(std::move(product));
}

}  // namespace

Graph reciprocal(const Graph& graph) { return Rewriter(graph).run(invert); }

}  // namespace kw::generate
