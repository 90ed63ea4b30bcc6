// Makes one graph from one call of the reference. Each trace evaluates the file again, with the
// dims of one shape, because Python code may branch on extents. The alternative, one symbolic trace
// for all shapes, would have to refuse such code. State of modules becomes inputs, named by path
// before the call, since a write replaces the node. Arguments that the call wrote into are outputs,
// whatever it returns: a caller sees them change. A second call in the same tracer shows whether
// the reference keeps state: its graph must print the same. The cost is one evaluation per shape,
// and two for that check.
#include "frontend/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/arrange.h"
#include "frontend/cell.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/python_tracer.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::NodeId;

struct Output {
  std::string name;
  Tensor tensor;
};

/// An argument as the reference receives it.
struct Bound {
  const Argument* argument = nullptr;
  Value value;
  NodeId input = -1;  // its node, if it is a tensor
};

Status check_bytes(const std::string& name, tensor::DType dtype, const graph::Shape& shape) {
  double bytes = tensor::dtype_size(dtype);
  for (const graph::Dim& extent : shape) bytes *= static_cast<double>(extent.value());
  if (bytes <= kMaxTensorBytes) return Done{};
  return input_error("input '{}' of shape {} needs {:.1f} GiB; at most {:.0f} GiB are accepted",
                     name, shape_text(shape), bytes / 1073741824.0, kMaxTensorBytes / 1073741824.0);
}

class Tracer {
 public:
  Tracer(const TraceEntry& entry, const task::Dims& dims, bool every_int)
      : entry_(entry), dims_(dims), tracer_(entry.source, {dims, every_int, entry.evaluation}) {}

  Result<Trace> run();
  /// The trace of a second call.
  Result<Trace> run_twice();
  Status stage(const std::function<Status(PreparedEntry&)>& look);

 private:
  void note_paths();
  void note_path(const Tensor& tensor, const std::string& path);
  void note_updates(Trace& trace) const;
  Arguments given() const;
  Result<Value> call_once();
  Result<Trace> collect_all(const Value& value);
  Result<Value> make_callee();
  Result<Value> make_model(const Value& cls);
  Status bind_arguments();
  Result<Value> scalar(const task::ScalarSpec& spec);
  Status collect(const Value& value, const std::string& name, int depth);
  Status collect_returned(const Value& value);
  void collect_written();
  const std::string* written_argument(const Tensor& tensor) const;
  std::string unique(const std::string& wanted);
  std::vector<std::string> returned_names(const Value& value) const;
  Result<Trace> finish();
  void name_weights(Trace& trace, const graph::Graph& graph, const std::vector<bool>& needed,
                    std::vector<std::pair<NodeId, std::string>>& inputs);

  const TraceEntry& entry_;
  task::Dims dims_;
  PythonTracer tracer_;
  Value callee_;
  std::vector<Bound> bound_;
  std::vector<std::shared_ptr<RuntimeScalar>> scalars_;  // shared with the numbers of the trace
  std::vector<std::pair<NodeId, std::string>> paths_;    // of state, before any call
  std::vector<std::pair<Tensor, uint64_t>> states_;      // of each path, with its version
  std::vector<NodeId> earlier_;                          // tensors of the earlier call
  std::vector<Output> outputs_;
  size_t returned_ = 0;  // of the outputs
  std::set<std::string> names_;
  std::vector<std::string> notes_;
};

Result<Value> Tracer::make_model(const Value& cls) {
  tracer_.set_randomness(Randomness::Weight);
  Arguments arguments;
  const Value* init = KW_TRY(tracer_.global("get_init_inputs"));
  if (init) {
    const Value values = KW_TRY(tracer_.call(*init, {}));
    if (const std::vector<Value>* items = items_of(values)) {
      arguments.positional = *items;
      // [[…], {…}]: positional arguments, then keyword arguments.
      const auto* keywords =
          items->size() == 2 ? (*items)[1].get<std::shared_ptr<Dict>>() : nullptr;
      if (keywords && items_of((*items)[0])) {
        arguments.positional = *items_of((*items)[0]);
        for (const auto& [key, value] : (*keywords)->items)
          arguments.keywords.emplace_back(to_text(key), value);
      }
    } else if (const auto* dict = values.get<std::shared_ptr<Dict>>()) {
      for (const auto& [key, value] : (*dict)->items)
        arguments.keywords.emplace_back(to_text(key), value);
    } else {
      return input_error("{}: get_init_inputs() returns {}, not a list", entry_.source->name,
                         type_name(values));
    }
  }
  Value model = KW_TRY(tracer_.call(cls, arguments));
  tracer_.set_randomness(Randomness::Refused);
  return model;
}

Result<Value> Tracer::make_callee() {
  tracer_.set_randomness(Randomness::Weight);
  KW_TRY(tracer_.run_module());
  tracer_.set_randomness(Randomness::Refused);
  const Value* found = KW_TRY(tracer_.global(entry_.name));
  if (!found) return input_error("{} has no '{}'", entry_.source->name, entry_.name);
  if (found->get<std::shared_ptr<Class>>()) return make_model(*found);
  return *found;
}

Result<Value> Tracer::scalar(const task::ScalarSpec& spec) {
  if (spec.runtime) {
    scalars_.push_back(std::make_shared<RuntimeScalar>(RuntimeScalar{spec.name}));
    auto origin = std::make_shared<NumberOrigin>();
    origin->text = spec.name;
    origin->is_operand = true;
    origin->scalars = {scalars_.back()};
    return Value(Float(spec.value(), std::move(origin), !tensor::is_float(spec.dtype)));
  }
  if (spec.dtype == tensor::DType::Bool) return Value(spec.integer != 0);
  if (tensor::is_float(spec.dtype)) return Value(spec.number);
  return Value(graph::Dim(spec.integer));
}

Status Tracer::bind_arguments() {
  for (const auto& [name, value] : tracer_.dims()) dims_.emplace(name, value);
  for (const Argument& argument : entry_.arguments) {
    Bound bound{&argument, Value(), -1};
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) {
      auto shape = shape_at(tensor->text.shape, dims_);
      if (!shape) return std::move(shape).error().context(fmt::format("input '{}'", argument.name));
      KW_TRY(check_bytes(argument.name, tensor->text.dtype, *shape));
      tracer_.graph().at(argument.name, 0, 0);
      bound.input = tracer_.graph().input(argument.name, tensor->text.dtype, *shape);
      bound.value = new_tensor(bound.input);
    } else if (const auto* spec = std::get_if<task::ScalarSpec>(&argument.value)) {
      bound.value = KW_TRY(scalar(*spec));
    } else {
      const auto found = dims_.find(argument.name);
      if (found == dims_.end())
        return input_error("no value for dim {}; pass --dims {}=…", argument.name, argument.name);
      bound.value = graph::Dim::symbol(argument.name, found->second);
    }
    names_.insert(argument.name);
    bound_.push_back(std::move(bound));
  }
  return Done{};
}

std::string Tracer::unique(const std::string& wanted) {
  std::string name = identifier(wanted);
  for (int i = 1; !names_.insert(name).second || !is_dim_name(name); ++i)
    name = fmt::format("{}_{}", identifier(wanted), i);
  return name;
}

Status Tracer::collect(const Value& value, const std::string& name, int depth) {
  if (const auto* tensor = value.get<Tensor>()) {
    // `return x` after x.add_(1) is the argument itself: one output, updated in place.
    const std::string* own = written_argument(*tensor);
    outputs_.push_back({own ? *own : unique(name), *tensor});
    return Done{};
  }
  if (value.is_none() && depth > 0) {
    notes_.push_back("a returned None is left out");
    return Done{};
  }
  if (const auto* dict = value.get<std::shared_ptr<Dict>>(); dict && depth <= kMaxNesting) {
    for (const auto& [key, one] : (*dict)->items) KW_TRY(collect(one, to_text(key), depth + 1));
    return Done{};
  }
  const std::vector<Value>* items = items_of(value);
  std::optional<std::vector<Value>> fields;
  if (const auto* object = value.get<std::shared_ptr<Object>>()) fields = module_items(**object);
  if (fields) items = &*fields;
  if (!items || depth > kMaxNesting)
    return input_error(
        "{}: {} returns {}{}\n  hint: return tensors, alone or in a tuple, list or dict",
        entry_.source->name, entry_.name, depth > 0 ? "a collection with " : "",
        depth > 0 ? type_name(value) : type_name(value) + ", not a tensor");
  for (size_t i = 0; i < items->size(); ++i)
    KW_TRY(collect((*items)[i], fmt::format("out{}", outputs_.size()), depth + 1));
  return Done{};
}

/// The variable names in `return y, z`; empty for an item that is another expression.
std::vector<std::string> Tracer::returned_names(const Value& value) const {
  const std::vector<Value>* items = items_of(value);
  std::vector<std::string> names(items ? items->size() : 1);
  const Json* node = tracer_.last_return();
  if (!node) return names;
  const Json::Array& elements = (*node)["elts"].items();
  if (!items && (*node)["_"].as_string() == "Name") names[0] = (*node)["id"].as_string();
  for (size_t i = 0; items && i < elements.size() && i < names.size(); ++i) {
    if (elements[i]["_"].as_string() == "Name") names[i] = elements[i]["id"].as_string();
  }
  return names;
}

Status Tracer::collect_returned(const Value& value) {
  if (const auto* dict = value.get<std::shared_ptr<Dict>>()) {
    for (const auto& [key, item] : (*dict)->items) KW_TRY(collect(item, to_text(key), 1));
    return Done{};
  }
  const std::vector<std::string> names = returned_names(value);
  const std::vector<Value>* items = items_of(value);
  const std::vector<Value> single = {value};
  const std::vector<Value>& all = items ? *items : single;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool taken = names[i].empty() || names_.count(names[i]);
    KW_TRY(
        collect(all[i], taken ? fmt::format("out{}", outputs_.size()) : names[i], items ? 1 : 0));
  }
  return Done{};
}

/// The name of the argument that this tensor is, if the call has written into it and it is not an
/// output yet.
const std::string* Tracer::written_argument(const Tensor& tensor) const {
  if (entry_.returns_only) return nullptr;
  for (const Bound& bound : bound_) {
    const auto* own = bound.value.get<Tensor>();
    const bool same = own && tensor.cell == own->cell && own->cell->version > 0;
    const auto named = [&](const Output& one) { return one.name == bound.argument->name; };
    if (same && std::none_of(outputs_.begin(), outputs_.end(), named)) return &bound.argument->name;
  }
  return nullptr;
}

/// Arguments that the call wrote into, or that the task names as written, are outputs.
void Tracer::collect_written() {
  for (const Bound& bound : bound_) {
    const auto* tensor = bound.value.get<Tensor>();
    const auto* text = std::get_if<TensorArgument>(&bound.argument->value);
    if (!tensor || !(tensor->cell->version > 0 || (text && text->written))) continue;
    const auto named = [&](const Output& one) { return one.name == bound.argument->name; };
    if (std::none_of(outputs_.begin(), outputs_.end(), named))
      outputs_.push_back({bound.argument->name, *tensor});
  }
}

void Tracer::name_weights(Trace& trace, const graph::Graph& graph, const std::vector<bool>& needed,
                          std::vector<std::pair<NodeId, std::string>>& inputs) {
  std::vector<Drawn> drawn = tracer_.parameters();
  drawn.insert(drawn.end(), tracer_.drawn().begin(), tracer_.drawn().end());
  const std::string nameless = "weight";
  const auto add = [&](NodeId node, const std::string& path) {
    const auto known = std::find_if(drawn.begin(), drawn.end(),
                                    [&](const Drawn& one) { return one.node == node; });
    if (known == drawn.end()) return;
    if (!needed[static_cast<size_t>(node)]) {
      if (&path == &nameless) return;
      trace.notes.push_back(fmt::format("no output needs '{}'", path));
      trace.unneeded.push_back(path);
      return;
    }
    Weight weight{unique(path), graph[node].dtype, {}, known->legal, known->trained, known->filled};
    for (const graph::Dim& extent : graph[node].shape) weight.shape.push_back(extent.text());
    inputs.emplace_back(node, weight.name);
    trace.weights.push_back(std::move(weight));
    drawn.erase(known);
  };
  for (const auto& [node, path] : paths_) add(node, path);
  while (!drawn.empty()) {
    const NodeId node = drawn.front().node;
    const size_t before = drawn.size();
    add(node, nameless);
    if (drawn.size() == before) drawn.erase(drawn.begin());
  }
}

Result<Trace> Tracer::finish() {
  std::vector<graph::NamedNode> outputs;
  for (const Output& output : outputs_)
    outputs.push_back({output.name, KW_TRY(read(tracer_.graph(), output.tensor))});
  const std::vector<std::string>& wanted = entry_.output_names;
  if (!wanted.empty() && wanted.size() != outputs.size())
    return input_error("{}: {} gives {} outputs, but the task names {}", entry_.source->name,
                       entry_.name, outputs.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) outputs[i].name = wanted[i];
  Trace trace;
  trace.notes = std::move(notes_);
  trace.returned = returned_;
  for (const auto& scalar : scalars_) {
    if (scalar->fixed) trace.fixed.push_back(scalar->name);
  }
  trace.allow_tf32 = tracer_.allow_tf32();
  trace.file_dims = tracer_.dims();
  const graph::Graph raw = std::move(tracer_.graph()).finish(std::move(outputs));
  const std::vector<bool> needed = needed_by_outputs(raw);
  for (const NodeId input : earlier_) {
    if (input >= 0 && needed[static_cast<size_t>(input)])
      return input_error("the result depends on an argument of an earlier call");
  }
  std::vector<std::pair<NodeId, std::string>> inputs;
  for (const Bound& bound : bound_) {
    if (bound.input < 0) continue;
    const auto* tensor = bound.value.get<Tensor>();
    const bool is_output = std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& one) {
      return one.name == bound.argument->name;
    });
    const bool read_too = needed[static_cast<size_t>(bound.input)];
    if (is_output && !read_too && tensor->cell->version > 0) {
      trace.write_only.push_back(bound.argument->name);
      continue;
    }
    if (is_output) trace.written.push_back(bound.argument->name);
    inputs.emplace_back(bound.input, bound.argument->name);
  }
  name_weights(trace, raw, needed, inputs);
  note_updates(trace);
  trace.graph = arrange(raw, inputs);
  return trace;
}

void Tracer::note_path(const Tensor& tensor, const std::string& path) {
  paths_.emplace_back(tensor.cell->node, path);
  states_.emplace_back(tensor, tensor.cell->version);
}

/// What PyTorch leaves in state or arguments, and the task's kernels do not.
void Tracer::note_updates(Trace& trace) const {
  std::vector<std::string> names;
  const auto runs = [&](const Tensor& tensor) {
    return std::ranges::any_of(tracer_.running(),
                               [&](const Tensor& one) { return one.cell == tensor.cell; });
  };
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto& [tensor, version] = states_[i];
    const bool known = contains(names, paths_[i].second);
    if (!known && (tensor.cell->version > version || runs(tensor)))
      names.push_back(paths_[i].second);
  }
  for (const Bound& bound : bound_) {
    const auto* tensor = bound.value.get<Tensor>();
    if (tensor && tensor->cell && runs(*tensor)) names.push_back(bound.argument->name);
  }
  if (names.empty()) return;
  const bool one = names.size() == 1;
  trace.notes.push_back(fmt::format("{} {} updated by PyTorch; this kernel does not",
                                    join(names, ", "), one ? "is" : "are"));
}

// Runs before any call, because a write replaces the node of a tensor.
void Tracer::note_paths() {
  if (const auto* model = callee_.get<std::shared_ptr<Object>>()) {
    for (const auto& [path, tensor] : state_of(**model)) note_path(tensor, path);
  }
  for (const auto& [name, value] : tracer_.globals()) {
    if (const auto* module = value.get<std::shared_ptr<Object>>()) {
      for (const auto& [path, tensor] : state_of(**module)) note_path(tensor, name + "." + path);
    }
    const auto* tensor = value.get<Tensor>();
    if (tensor && tensor->cell) note_path(*tensor, name);
  }
}

Arguments Tracer::given() const {
  Arguments arguments;
  for (const Bound& bound : bound_) {
    if (bound.argument->by_keyword)
      arguments.keywords.emplace_back(bound.argument->name, bound.value);
    else
      arguments.positional.push_back(bound.value);
  }
  return arguments;
}

Result<Value> Tracer::call_once() {
  KW_TRY(bind_arguments());
  auto called = tracer_.call(callee_, given());
  if (!called) {
    const std::string at = task::dims_text(dims_);
    if (at.empty()) return std::move(called).error();
    Error error = std::move(called).error();
    error.message += "\n  at " + at;
    return error;
  }
  return std::move(called).value();
}

Result<Trace> Tracer::run() {
  callee_ = KW_TRY(make_callee());
  note_paths();
  const Value value = KW_TRY(call_once());
  return collect_all(value);
}

Status Tracer::stage(const std::function<Status(PreparedEntry&)>& look) {
  callee_ = KW_TRY(make_callee());
  note_paths();
  KW_TRY(bind_arguments());
  PreparedEntry staged{tracer_, callee_, given(), {}};
  for (const auto& [node, path] : paths_) staged.names[node] = identifier(path);
  for (const Bound& bound : bound_) {
    if (bound.input >= 0) staged.names[bound.input] = bound.argument->name;
  }
  return look(staged);
}

Result<Trace> Tracer::run_twice() {
  callee_ = KW_TRY(make_callee());
  note_paths();
  KW_TRY(call_once());
  for (const Bound& bound : bound_) earlier_.push_back(bound.input);
  bound_.clear();
  names_.clear();
  const Value again = KW_TRY(call_once());
  return collect_all(again);
}

Result<Trace> Tracer::collect_all(const Value& value) {
  if (!value.is_none() && !entry_.writes_only) KW_TRY(collect_returned(value));
  returned_ = outputs_.size();
  if (!entry_.returns_only || returned_ == 0) collect_written();
  if (outputs_.empty() && value.is_none())
    return input_error(
        "{}: {} returns None and writes to none of its inputs\n  hint: return the result, or write "
        "it into an argument: out.copy_(y)",
        entry_.source->name, entry_.name);
  if (outputs_.empty()) {
    KW_TRY(collect_returned(value));
    returned_ = outputs_.size();
  }
  if (outputs_.empty())
    return input_error("{}: {} returns no tensor", entry_.source->name, entry_.name);
  return finish();
}

/// The graph with nodes in the order of use by the outputs, whatever the order of creation.
graph::Graph in_order_of_use(const graph::Graph& graph) {
  std::vector<NodeId> order, open, moved(graph.nodes.size(), -1);
  for (const graph::NamedNode& input : graph.inputs) open.push_back(input.node);
  for (const graph::NamedNode& output : graph.outputs) open.push_back(output.node);
  std::ranges::reverse(open);
  while (!open.empty()) {
    const NodeId id = open.back();
    const std::vector<NodeId>& inputs = graph[id].inputs;
    const auto missing = std::ranges::find_if(
        inputs, [&](NodeId input) { return moved[static_cast<size_t>(input)] < 0; });
    if (moved[static_cast<size_t>(id)] < 0 && missing != inputs.end()) {
      open.push_back(*missing);
      continue;
    }
    open.pop_back();
    if (moved[static_cast<size_t>(id)] >= 0) continue;
    moved[static_cast<size_t>(id)] = static_cast<NodeId>(order.size());
    order.push_back(id);
  }
  graph::Graph sorted;
  for (const NodeId id : order) {
    sorted.nodes.push_back(graph[id]);
    for (NodeId& input : sorted.nodes.back().inputs) input = moved[static_cast<size_t>(input)];
  }
  for (const auto& [from, to] :
       {std::pair(&graph.inputs, &sorted.inputs), std::pair(&graph.outputs, &sorted.outputs)}) {
    for (const graph::NamedNode& one : *from)
      to->push_back({one.name, moved[static_cast<size_t>(one.node)]});
  }
  return sorted;
}

}  // namespace

bool repeats_itself(const TraceEntry& entry, const task::Dims& dims, const graph::Graph& first) {
  const Result<Trace> again = Tracer(entry, dims, false).run_twice();
  return again && graph::print(in_order_of_use(graph::without_marks(again->graph))) ==
                      graph::print(in_order_of_use(first));
}

Status stage_entry(const TraceEntry& entry, const task::Dims& dims,
                   const std::function<Status(PreparedEntry&)>& look) {
  return Tracer(entry, dims, false).stage(look);
}

Result<Trace> trace_entry(const TraceEntry& entry, const task::Dims& dims, bool every_int) {
  Trace trace = KW_TRY(Tracer(entry, dims, every_int).run());
  trace.graph = graph::without_marks(trace.graph);
  return trace;
}

Result<graph::Graph> PythonReference::trace(const task::Dims& dims) const {
  Trace trace = KW_TRY(trace_entry(entry_, dims));
  return std::move(trace.graph);
}

Result<graph::Graph> PythonReference::trace_marked(const task::Dims& dims) const {
  Trace trace = KW_TRY(Tracer(entry_, dims, false).run());
  return std::move(trace.graph);
}

}  // namespace kw::frontend
