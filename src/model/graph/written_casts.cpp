#include "graph/written_casts.h"

#include <algorithm>
#include <set>
#include <string>

namespace kw::graph {

bool is_written_narrowing(const Graph& graph, const Node& cast) {
  static const std::set<std::string> written = {"to",   "half",    "bfloat16",
                                                "type", "type_as", "_to_copy"};
  if (cast.op != Op::Cast || (cast.dtype != DType::Fp16 && cast.dtype != DType::Bf16)) return false;
  const DType from = graph[cast.inputs[0]].dtype;
  return (from == DType::Fp32 || from == DType::Fp64) && written.count(cast.origin) > 0;
}

bool is_cast_to_byte(const Graph& graph, const Node& cast) {
  if (cast.op != Op::Cast || !tensor::is_float(cast.dtype)) return false;
  const DType from = graph[cast.inputs[0]].dtype;
  const bool narrow =
      cast.dtype == DType::Fp8e4m3 || cast.dtype == DType::Fp8e5m2 || cast.dtype == DType::E8m0;
  return narrow && from != cast.dtype && from != DType::Bool;
}

std::vector<bool> nodes_computed_with(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false), computed(graph.nodes.size(), false);
  for (const NamedNode& output : graph.outputs) needed[static_cast<size_t>(output.node)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    if (!needed[id]) continue;
    const bool moves = op_info(graph.nodes[id].op).kind == OpKind::Movement && !computed[id];
    for (const NodeId in : graph.nodes[id].inputs) {
      needed[static_cast<size_t>(in)] = true;
      if (!moves) computed[static_cast<size_t>(in)] = true;
    }
  }
  return computed;
}

std::vector<bool> snapping_casts(const Graph& graph) {
  const auto is_cast = [&](const Node& node) { return is_cast_to_byte(graph, node); };
  if (std::ranges::none_of(graph.nodes, is_cast)) return std::vector<bool>(graph.nodes.size());
  std::vector<bool> snaps = nodes_computed_with(graph);
  for (size_t id = 0; id < snaps.size(); ++id) snaps[id] = snaps[id] && is_cast(graph.nodes[id]);
  return snaps;
}

}  // namespace kw::graph
