#include "tracing.h"

#include <fmt/core.h>

#include "frontend/cell.h"
#include "frontend/python_tracer.h"
#include "frontend/syntax.h"

namespace kw::ops {
namespace {

using frontend::Value;

Status flatten(frontend::PythonTracer& evaluator, const Value& value,
               std::vector<graph::NamedNode>& outputs) {
  if (const std::vector<Value>* items = frontend::items_of(value)) {
    for (const Value& item : *items) KW_TRY(flatten(evaluator, item, outputs));
    return Done{};
  }
  const auto* tensor = value.get<frontend::Tensor>();
  if (!tensor) return input_error("a case gives tensors, not " + frontend::type_name(value));
  const graph::NodeId node = KW_TRY(frontend::read(evaluator.graph(), *tensor));
  outputs.push_back({fmt::format("out{}", outputs.size()), node});
  return Done{};
}

graph::Shape shape_of(const std::vector<int64_t>& extents) {
  return graph::Shape(extents.begin(), extents.end());
}

}  // namespace

Result<Tracing> Tracing::parse(const std::vector<Case>& cases) {
  std::string text = "import math\nimport torch\nimport torch.nn.functional as F\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string names;
    for (const InputSpec& spec : cases[i].inputs) names += (names.empty() ? "" : ", ") + spec.name;
    text += fmt::format("def case_{}({}):\n    return {}\n", i, names, cases[i].expression);
  }
  Tracing tracing;
  tracing.source_ = KW_TRY(frontend::parse_python(std::move(text), "table.py"));
  return tracing;
}

Result<graph::Graph> Tracing::trace(const Case& one, size_t i) const {
  frontend::PythonTracer evaluator(source_, {});
  KW_TRY(evaluator.run_module());
  const Value* function = KW_TRY(evaluator.global(fmt::format("case_{}", i)));
  if (!function) return input_error("the case is not in the file");
  frontend::Arguments arguments;
  for (const InputSpec& spec : one.inputs) {
    const graph::NodeId node = evaluator.graph().input(spec.name, spec.dtype, shape_of(spec.shape));
    arguments.positional.push_back(Value(frontend::new_tensor(node)));
  }
  const Value result = KW_TRY(evaluator.call(*function, arguments));
  std::vector<graph::NamedNode> outputs;
  KW_TRY(flatten(evaluator, result, outputs));
  graph::Graph graph = std::move(evaluator.graph()).finish(std::move(outputs));
  KW_TRY(graph::verify(graph));
  return graph;
}

}  // namespace kw::ops
