#include "verification/describe.h"

#include "core/json_writer.h"
#include "core/text.h"
#include "graph/graph.h"

namespace kw::verification {

namespace {

DescribedTensor tensor_of(const graph::Graph& graph, const graph::NamedNode& named) {
  const graph::Node& node = graph[named.node];
  DescribedTensor tensor{named.name, tensor::dtype_name(node.dtype), {}, {}};
  for (const graph::Dim& dim : node.shape) {
    tensor.shape.push_back(dim.text());
    tensor.extents.push_back(dim.value());
  }
  return tensor;
}

Json tensors_json(const std::vector<DescribedTensor>& tensors) {
  Json list = Json::array();
  for (const DescribedTensor& tensor : tensors) {
    list.push(Json::object()
                  .set("name", tensor.name)
                  .set("dtype", tensor.dtype)
                  .set("shape", json_of(tensor.shape))
                  .set("extents", json_of(tensor.extents)));
  }
  return list;
}

Json cost_json(const graph::Cost& cost) {
  return Json::object()
      .set("flops", cost.flops)
      .set("tensor_flops", cost.tensor_flops)
      .set("read_bytes", cost.read_bytes)
      .set("write_bytes", cost.write_bytes)
      .set("gathered_bytes", cost.gathered_bytes)
      .set("intensity", cost.intensity());
}

}  // namespace

Result<Description> describe_task(const reference::ReferenceRequest& request) {
  Description made;
  made.task = KW_TRY(reference::load_reference(request));
  made.hash = task::task_hash(made.task);
  made.dims = made.task.benchmark_shapes.empty() ? made.task.correctness_shapes.front()
                                                 : made.task.benchmark_shapes.front();
  const graph::Graph graph = graph::simplify(KW_TRY(made.task.graph_at(made.dims)));
  for (const graph::NamedNode& named : graph.inputs) made.inputs.push_back(tensor_of(graph, named));
  for (const graph::NamedNode& named : graph.outputs)
    made.outputs.push_back(tensor_of(graph, named));
  const std::string text = graph::print(graph);
  for (const std::string_view line : split_lines(text)) made.ops.emplace_back(line);
  made.guards = graph.guards;
  made.cost = graph::cost_of(graph);
  return made;
}

Json to_json(const Description& description) {
  return Json::object()
      .set("task", task::to_json(description.task).set("hash", description.hash))
      .set("dims", json_of(description.dims))
      .set("inputs", tensors_json(description.inputs))
      .set("outputs", tensors_json(description.outputs))
      .set("ops", json_of(description.ops))
      .set("guards", json_of(description.guards))
      .set("cost", cost_json(description.cost));
}

}  // namespace kw::verification
