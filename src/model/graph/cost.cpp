// Works from the outputs backwards. Each node collects the elements that its users need and passes
// the need on to its inputs. The elements needed of graph inputs must be read once. The elements
// needed of each node must be computed once.
#include "graph/cost.h"

#include <algorithm>

#include "graph/demand.h"

namespace kw::graph {

namespace {

// The number of elements of the first input that the needed results depend on.
double input_elements(const Graph& graph, const Node& node, const Demand& demand) {
  const Shape& shape = graph[node.inputs[0]].shape;
  Demand asked;
  for (const Box& box : demand.boxes)
    for (Box& part : input_boxes(graph, node, 0, box)) add_box(asked, std::move(part), shape);
  if (demand.gathered > 0) add_box(asked, whole_box(shape), shape);
  return box_elements(asked, shape);
}

// The flops of a node. Only arithmetic with float inputs or float results counts.
double flops_of(const Graph& graph, const Node& node, const Demand& demand) {
  const OpInfo& info = op_info(node.op);
  if (info.flops == 0 || node.inputs.empty()) return 0;
  const Node& first = graph[node.inputs[0]];
  if (!tensor::is_float(node.dtype) && !tensor::is_float(first.dtype)) return 0;
  switch (info.kind) {
    case OpKind::Reduction:
    case OpKind::Scan:
    case OpKind::Selection:
      return info.flops * input_elements(graph, node, demand);
    case OpKind::Contraction:
      return info.flops * demanded_elements(demand, node.shape) *
             static_cast<double>(first.shape.back().value());
    case OpKind::Movement: {  // adds while moving: one addition per source element
      if (node.op == Op::Fold) return info.flops * input_elements(graph, node, demand);
      if (node.attrs.scatter == ScatterMode::Set) return 0;
      const Node& source = graph[node.inputs.back()];
      return info.flops * static_cast<double>(count_of(source.shape).value());
    }
    default:
      return info.flops * demanded_elements(demand, node.shape);
  }
}

bool keeps_count(Op op) {
  return op_info(op).kind == OpKind::Pointwise || op == Op::Reshape || op == Op::Permute ||
         op == Op::Flip || op == Op::Slice || op == Op::Expand;
}

double count_value(const Node& node) { return static_cast<double>(count_of(node.shape).value()); }

// An element that an index selects: any element of x, and the index at the place of the result.
void ask_lookup(const Graph& graph, const Node& node, const Demand& demand,
                std::vector<Demand>& demands) {
  Demand& table = demands[static_cast<size_t>(node.inputs[0])];
  table.gathered += demanded_elements(demand, node.shape);
  const NodeId index = node.inputs[1];
  Demand& places = demands[static_cast<size_t>(index)];
  const Shape& shape = graph[index].shape;
  if (demand.gathered > 0) add_box(places, whole_box(shape), shape);
  for (const Box& box : demand.boxes) {
    const auto dim = static_cast<size_t>(node.attrs.dims[0]);
    add_box(places, node.op == Op::IndexSelect ? Box{box[dim]} : box, shape);
  }
}

void ask_inputs(const Graph& graph, const Node& node, const Demand& demand,
                std::vector<Demand>& demands) {
  if (node.op == Op::Gather || node.op == Op::IndexSelect) {
    return ask_lookup(graph, node, demand, demands);
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Node& input = graph[node.inputs[i]];
    Demand& asked = demands[static_cast<size_t>(node.inputs[i])];
    for (const Box& box : demand.boxes) {
      for (Box& part : input_boxes(graph, node, i, box))
        add_box(asked, std::move(part), input.shape);
    }
    if (demand.gathered == 0) continue;
    if (keeps_count(node.op)) {
      asked.gathered += std::min(demand.gathered, count_value(input));
    } else {
      add_box(asked, whole_box(input.shape), input.shape);
    }
  }
}

void count_read(const Node& node, const Demand& demand, Cost* cost) {
  const double size = tensor::dtype_size(node.dtype);
  const double certain = box_elements(demand, node.shape);
  const double all = demanded_elements(demand, node.shape);
  cost->read_bytes += all * size;
  cost->gathered_bytes += (all - certain) * size;
}

}  // namespace

Cost cost_of(const Graph& original) {
  const Graph graph = simplify(original);
  std::vector<Demand> demands(graph.nodes.size());
  Cost cost;
  for (const NamedNode& output : graph.outputs) {
    const Node& node = graph[output.node];
    add_box(demands[static_cast<size_t>(output.node)], whole_box(node.shape), node.shape);
    cost.write_bytes += count_value(node) * tensor::dtype_size(node.dtype);
  }
  for (size_t at = graph.nodes.size(); at-- > 0;) {
    const Node& node = graph.nodes[at];
    const Demand demand = demands[at];
    if (demand.empty()) continue;
    if (node.op == Op::Input) count_read(node, demand, &cost);
    const double flops = flops_of(graph, node, demand);
    cost.flops += flops;
    if (node.op == Op::MatMul) cost.tensor_flops += flops;
    ask_inputs(graph, node, demand, demands);
  }
  return cost;
}

}  // namespace kw::graph
