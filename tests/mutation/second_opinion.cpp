#include "second_opinion.h"

#include <algorithm>

#include "graph/written_casts.h"
#include "second_opinion_steps.h"
#include "tensor/npy.h"

namespace kw::mutation {

using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using tensor::HostTensor;

Error Step::refuse(const std::string& why) const {
  return input_error("{}: {}", graph::op_info(node.op).name, why);
}

namespace {

Status check_inputs(const Graph& graph, const std::vector<HostTensor>& inputs) {
  if (inputs.size() != graph.inputs.size())
    return input_error("the graph has {} inputs, {} were given", graph.inputs.size(),
                       inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const graph::Node& node = graph[graph.inputs[k].node];
    const Extents shape = graph::values_of(node.shape);
    if (inputs[k].dtype == node.dtype && inputs[k].shape == shape) continue;
    return input_error("input '{}' is {}{}, the graph has {}{}", graph.inputs[k].name,
                       tensor::dtype_name(inputs[k].dtype), tensor::shape_text(inputs[k].shape),
                       tensor::dtype_name(node.dtype), tensor::shape_text(shape));
  }
  return Done{};
}

/// The last node that reads each node; -1: no output needs it. Outputs are read after all nodes.
std::vector<NodeId> last_readers(const Graph& graph) {
  std::vector<NodeId> last(graph.nodes.size(), -1);
  for (const graph::NamedNode& output : graph.outputs)
    last[static_cast<size_t>(output.node)] = static_cast<NodeId>(graph.nodes.size());
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    if (last[id] < 0) continue;
    for (const NodeId in : graph.nodes[id].inputs) {
      NodeId& reader = last[static_cast<size_t>(in)];
      reader = std::max(reader, static_cast<NodeId>(id));
    }
  }
  return last;
}

Result<WideTensor> computed(const Step& step, const std::vector<HostTensor>& inputs) {
  const Op op = step.node.op;
  if (step.node.dtype == DType::Fp4e2m1x2) return step.refuse("cannot take a packed type");
  if (op == Op::Input) return read_tensor(inputs[static_cast<size_t>(step.node.attrs.integer)]);
  if (op == Op::Fold) return fold(step);
  if (op == Op::Scatter) return scatter(step);
  switch (graph::op_info(op).kind) {
    case OpKind::Source:
      return constant_or_count(step);
    case OpKind::Pointwise:
      return point(step);
    case OpKind::Reduction:
      return reduction(step);
    case OpKind::Scan:
      return scan(step);
    case OpKind::Selection:
      return selection(step);
    case OpKind::Contraction:
      return product_of_matrices(step);
    case OpKind::Movement:
      return movement(step);
  }
  return step.refuse("an op of an unknown kind");
}

void round_to_dtype(WideTensor& tensor) {
  if (is_whole(tensor.dtype)) return;
  for (Real& v : tensor.value) v = stored(tensor.dtype, v);
}

/// PyTorch clips values to e4m3, infinities too; NaN stays.
void snap(WideTensor& tensor) {
  constexpr Real kMost = 448;
  if (tensor.dtype == DType::Fp8e4m3) {
    for (Real& v : tensor.value) v = std::clamp(v, -kMost, kMost);
  }
  round_to_dtype(tensor);
}

/// A constant is what a kernel gets as an argument: not rounded to a half type, nor when expanded.
bool rounds(Op op) {
  const bool moves = graph::op_info(op).kind == OpKind::Movement;
  return op != Op::Constant && (!moves || op == Op::Fold || op == Op::Scatter);
}

Result<std::vector<WideTensor>> run_graph(const Graph& graph, const std::vector<HostTensor>& inputs,
                                          Arithmetic arithmetic) {
  KW_TRY(graph::verify(graph));
  KW_TRY(check_inputs(graph, inputs));
  const std::vector<NodeId> last = last_readers(graph);
  std::vector<WideTensor> values(graph.nodes.size());
  const std::vector<bool> snaps = graph::snapping_casts(graph);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (last[id] < 0) continue;
    const graph::Node& node = graph.nodes[id];
    Step step{node, {}, arithmetic};
    for (const NodeId in : node.inputs) step.in.push_back(&values[static_cast<size_t>(in)]);
    values[id] = KW_TRY(computed(step, inputs));
    if (snaps[id])
      snap(values[id]);
    else if (arithmetic == Arithmetic::Declared && rounds(node.op))
      round_to_dtype(values[id]);
    for (const NodeId in : node.inputs) {
      if (last[static_cast<size_t>(in)] == static_cast<NodeId>(id))
        values[static_cast<size_t>(in)] = {};
    }
  }
  std::vector<WideTensor> outputs;
  for (const graph::NamedNode& output : graph.outputs) {
    outputs.push_back(values[static_cast<size_t>(output.node)]);
    if (arithmetic == Arithmetic::Declared) round_to_dtype(outputs.back());
  }
  return outputs;
}

}  // namespace

Result<std::vector<WideTensor>> second_opinion(const Graph& graph,
                                               const std::vector<HostTensor>& inputs) {
  return run_graph(graph, inputs, Arithmetic::Wide);
}

Result<std::vector<WideTensor>> rounded_opinion(const Graph& graph,
                                                const std::vector<HostTensor>& inputs) {
  return run_graph(graph, inputs, Arithmetic::Declared);
}

}  // namespace kw::mutation
