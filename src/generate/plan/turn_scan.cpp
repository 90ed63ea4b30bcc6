// A scan between two flips of its dim is a scan in reverse: one kernel without movement.
#include "ops/op_groups.h"
#include "plan/passes.h"
#include "plan/rewrite.h"

namespace kw::generate {

namespace {

std::optional<NodeId> turn(Rewriter& r, const Node& node) {
  if (node.op != Op::Flip) return std::nullopt;
  const Node& scan = r[node.inputs[0]];
  // Positions would also have to be reversed; values need not.
  if (!ops::scans_values(scan.op) || scan.attrs.dims != node.attrs.dims) return std::nullopt;
  const Node& inner = r[scan.inputs[0]];
  if (inner.op != Op::Flip || inner.attrs.dims != node.attrs.dims) return std::nullopt;
  Node turned = scan;
  turned.inputs = inner.inputs;
  turned.attrs.reverse = !scan.attrs.reverse;
  return r.add(std::move(turned));
}

}  // namespace

Graph turn_scan(const Graph& graph) { return Rewriter(graph).run(turn); }

}  // namespace kw::generate
