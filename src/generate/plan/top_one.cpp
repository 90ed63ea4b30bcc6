// The largest of a row is a reduction, also as the first of a top-k. NaN is above all numbers in
// both. Selections of the smallest floats are not changed: there NaN comes last, but a min returns
// it.
#include "emit/emit.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

std::optional<NodeId> take_best(Rewriter& r, const Node& node) {
  const bool values = node.op == Op::TopKValues;
  if (!values && node.op != Op::TopKIndices) return std::nullopt;
  const Dim& count = node.shape[static_cast<size_t>(node.attrs.dims[0])];
  if (!count.is_constant() || count.value() != 1) return std::nullopt;
  if (!node.attrs.descending && !is_integer(r[node.inputs[0]].dtype)) return std::nullopt;
  Node best = node;
  best.op =
      node.attrs.descending ? (values ? Op::Max : Op::ArgMax) : (values ? Op::Min : Op::ArgMin);
  best.attrs = {};
  best.attrs.dims = node.attrs.dims;
  return r.add(std::move(best));
}

}  // namespace

Graph top_one(const Graph& graph) { return Rewriter(graph).run(take_best); }

}  // namespace kw::generate
