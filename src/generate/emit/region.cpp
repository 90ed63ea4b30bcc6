#include "emit/region.h"

#include <algorithm>

#include "graph/promote.h"
#include "graph/written_casts.h"

namespace kw::generate {

std::string number_key(const Node& constant) {
  const DType dtype =
      tensor::is_float(constant.dtype) ? graph::opmath(constant.dtype) : DType::Int64;
  return std::string(tensor::dtype_name(dtype)) + " " + constant.attrs.number_text;
}

bool is_heavy(Op op) {
  switch (graph::op_info(op).kind) {
    case OpKind::Reduction:
    case OpKind::Scan:
    case OpKind::Selection:
    case OpKind::Contraction:
      return true;
    default:
      return op == Op::Scatter || op == Op::Fold;
  }
}

std::vector<NodeId> interior(const Region& region) {
  std::set<NodeId> seen;
  std::vector<NodeId> open;
  for (const Store& store : region.stores) open.push_back(store.node);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (region.loads.count(id) > 0 || !seen.insert(id).second) continue;
    for (const NodeId input : region.node(id).inputs) open.push_back(input);
  }
  return {seen.begin(), seen.end()};
}

std::set<NodeId> roundings(const Region& region) {
  std::set<NodeId> computed_with, found;
  const std::vector<NodeId> nodes = interior(region);
  for (auto id = nodes.rbegin(); id != nodes.rend(); ++id) {
    const Node& node = region.node(*id);
    const bool moves = graph::op_info(node.op).kind == OpKind::Movement && !is_heavy(node.op);
    if (!moves || computed_with.count(*id) > 0) {
      computed_with.insert(node.inputs.begin(), node.inputs.end());
    }
    if (computed_with.count(*id) == 0) continue;
    if (graph::is_cast_to_byte(*region.graph, node) ||
        graph::is_written_narrowing(*region.graph, node))
      found.insert(*id);
  }
  return found;
}

std::vector<NodeId> heavy_nodes(const Region& region) {
  std::vector<NodeId> heavy = interior(region);
  std::erase_if(heavy, [&](NodeId id) { return !is_heavy(region.node(id).op); });
  return heavy;
}

}  // namespace kw::generate
