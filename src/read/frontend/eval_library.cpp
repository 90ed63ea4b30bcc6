// The library that is written in Python (python/library), evaluated like the reference's own
// functions and classes. Its errors and nodes get the place of the call in the user's file.
#include "frontend/cell.h"
#include "frontend/python_tracer.h"
#include "frontend/written.h"

namespace kw::frontend {

void PythonTracer::mark(std::string origin, const Json& node) {
  if (in_library())
    graph_.at(std::move(origin));
  else
    graph_.at(std::move(origin), line_of(node), column_of(node));
}

std::string PythonTracer::shown(const Json& node) const {
  return text_of(in_library() ? *frames_.back()->library : *source_, node);
}

Result<std::optional<Value>> PythonTracer::written(const std::string& name) {
  const Written* row = find_written(name);
  if (!row) return std::optional<Value>();
  std::shared_ptr<Scope>& scope = libraries_[row->file];
  if (!scope) {
    const std::shared_ptr<const Source> source = KW_TRY(written_source(row->file));
    scope = std::make_shared<Scope>();
    Frame frame;
    frame.scope = scope;
    frame.library = source.get();
    frames_.push_back(&frame);
    auto flow = run_all(source->tree["body"]);
    frames_.pop_back();
    if (!flow) return std::move(flow).error();
  }
  const Value value = scope->names.at(row->word);
  if (const auto* cls = value.get<std::shared_ptr<Class>>()) (*cls)->library = name;
  return std::optional(value);
}

Result<Value> PythonTracer::copy_module(const std::shared_ptr<Object>& object,
                                        std::map<const void*, Value>& known) {
  if (const auto done = known.find(object.get()); done != known.end()) return done->second;
  auto copied = std::make_shared<Object>(*object);
  objects_.push_back(copied);
  known[object.get()] = Value(copied);
  for (const std::string& name : copied->order) {
    const Value value = object->attributes.at(name);
    const auto* tensor = value.get<Tensor>();
    const auto* child = value.get<std::shared_ptr<Object>>();
    if (child) copied->attributes[name] = KW_TRY(copy_module(*child, known));
    if (!tensor) continue;
    const void* cell = tensor->cell.get();
    if (const auto done = known.find(cell); done != known.end()) {
      copied->attributes[name] = done->second;
      continue;
    }
    const graph::NodeId node = KW_TRY(node_of(*tensor));
    Value fresh = new_tensor(node);
    for (const Drawn& one : std::vector<Drawn>(parameters_)) {
      if (one.node != node) continue;
      fresh = Value(placeholder(graph_[node].dtype, graph_[node].shape, one.legal));
      parameters_.back().trained = one.trained;
      parameters_.back().filled = one.filled;
    }
    known[cell] = fresh;
    copied->attributes[name] = fresh;
  }
  return Value(std::move(copied));
}

}  // namespace kw::frontend
