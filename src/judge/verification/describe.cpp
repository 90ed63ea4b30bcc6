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

void fields(auto& v, DescribedTensor& t) {
  v("name", t.name)("dtype", t.dtype)("shape", t.shape)("extents", t.extents);
}

Json to_json(const Description& description) {
  const graph::Cost& cost = description.cost;
  JsonWriter v;
  v("task", task::to_json(description.task).set("hash", description.hash));
  v("dims", description.dims)("inputs", description.inputs)("outputs", description.outputs);
  v("ops", description.ops)("guards", description.guards);
  v.group("cost", [&](auto& g) {
    g("flops", cost.flops)("tensor_flops", cost.tensor_flops)("read_bytes", cost.read_bytes);
    g("write_bytes", cost.write_bytes)("gathered_bytes", cost.gathered_bytes);
    g("intensity", cost.intensity());
  });
  return v.take();
}

}  // namespace kw::verification
