#include "verification/describe.h"

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
    Json shape = Json::array(), extents = Json::array();
    for (const std::string& text : tensor.shape) shape.push(text);
    for (const int64_t extent : tensor.extents) extents.push(extent);
    list.push(Json::object()
                  .set("name", tensor.name)
                  .set("dtype", tensor.dtype)
                  .set("shape", std::move(shape))
                  .set("extents", std::move(extents)));
  }
  return list;
}

Json lines_json(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push(line);
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
  Json dims = Json::object();
  for (const auto& [name, value] : description.dims) dims.set(name, value);
  return Json::object()
      .set("task", task::to_json(description.task).set("hash", description.hash))
      .set("dims", std::move(dims))
      .set("inputs", tensors_json(description.inputs))
      .set("outputs", tensors_json(description.outputs))
      .set("ops", lines_json(description.ops))
      .set("guards", lines_json(description.guards))
      .set("cost", cost_json(description.cost));
}

}  // namespace kw::verification
