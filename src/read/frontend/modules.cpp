// nn.Module: the modules of torch.nn and the methods that every module has. A module of torch.nn is
// a row (nn_modules.h): parameters, state, and the op row that its forward calls. Its weights
// become inputs of the graph, because a kernel must take any weights. The alternative, to store
// weights as constants, would fix one set of random values. The initial value is kept only if one
// number fills the whole tensor. Methods without effect on values (apply, cuda, zero_grad) are
// accepted and return the module.
#include "frontend/modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "frontend/call.h"
#include "frontend/cell.h"
#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/names.h"
#include "frontend/nn_modules.h"
#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/refusals.h"
#include "frontend/subscript.h"
#include "frontend/tensors.h"

namespace kw::frontend {

bool is_module_method(const std::string& name) {
  static constexpr std::string_view kNames =
      "__init__ eval train to cuda cpu half float double bfloat16 type parameters "
      "named_parameters buffers named_buffers modules named_modules children named_children "
      "register_buffer register_parameter add_module register_module register_forward_pre_hook "
      "apply requires_grad_ append extend insert keys values items update compile zero_grad "
      "reset_parameters share_memory forward";
  return has_word(kNames, name);
}

namespace {

using State = std::vector<std::pair<std::string, Tensor>>;

void collect(const Value& value, const std::string& path, State& out, std::set<const void*>& seen) {
  if (const auto* tensor = value.get<Tensor>()) {
    if (tensor->cell && seen.insert(tensor->cell.get()).second) out.emplace_back(path, *tensor);
    return;
  }
  const auto* object = value.get<std::shared_ptr<Object>>();
  if (!object || !seen.insert(object->get()).second) return;
  for (const std::string& name : (*object)->order)
    collect((*object)->attributes.at(name), path.empty() ? name : path + "." + name, out, seen);
}

void collect_modules(const std::shared_ptr<Object>& module, const std::string& path,
                     std::vector<std::pair<std::string, std::shared_ptr<Object>>>& out) {
  const bool known =
      std::any_of(out.begin(), out.end(), [&](const auto& one) { return one.second == module; });
  if (known) return;
  out.emplace_back(path, module);
  for (const std::string& name : module->order) {
    const auto* child = module->attributes.at(name).get<std::shared_ptr<Object>>();
    if (child && (*child)->cls->kind == ClassKind::Module)
      collect_modules(*child, path.empty() ? name : path + "." + name, out);
  }
}

/// The torch.nn module that a class derives from, such as "Linear"; "" if it has none.
std::string library_base(const Class& cls) {
  const bool written = !cls.bases.empty();  // in Python: its forward is evaluated like the file's
  if (cls.library.starts_with("torch.nn.") && cls.library != "torch.nn.Module" && !written)
    return cls.library.substr(9);
  for (const auto& base : cls.bases) {
    std::string found = library_base(*base);
    if (!found.empty()) return found;
  }
  return "";
}

std::vector<std::string> parameter_names(std::string_view signature) {
  std::vector<std::string> names;
  for (const std::string& piece : split(signature, ',')) {
    const std::string_view text = trim(piece);
    if (!text.empty() && text[0] != '*') names.emplace_back(trim(text.substr(0, text.find('='))));
  }
  return names;
}

Result<bool> wanted(Call& call, const StateRow& row) {
  if (!row.when) return true;
  for (const std::string& condition : split(row.when, '&')) {
    const bool holds = KW_TRY(call.boolean(condition));
    if (!holds) return false;
  }
  return true;
}

// The extents of one entry of StateRow::shape.
Result<graph::Shape> state_extents(Call& call, const std::string& text) {
  const size_t power = text.find('^'), over = text.find('/'), times = text.find('*');
  if (power != std::string::npos) {
    const auto n = static_cast<size_t>(parse_int(text.substr(power + 1)).value_or(1));
    const std::vector<int64_t> each = KW_TRY(per_dim(call, text.substr(0, power), n));
    return graph::Shape(each.begin(), each.end());
  }
  if (times != std::string::npos) {
    const graph::Dim extent = KW_TRY(call.dim_value(text.substr(times + 1)));
    return graph::Shape{graph::Dim(parse_int(text.substr(0, times)).value_or(1)) * extent};
  }
  if (over == std::string::npos) return call.sizes(text);
  const std::string whole = text.substr(0, over), parts = text.substr(over + 1);
  const graph::Dim extent = KW_TRY(call.dim_value(whole));
  const graph::Dim divisor = KW_TRY(call.dim_value(parts));
  if (divisor.value() <= 0) return input_error("{} must be a positive integer", parts);
  if (extent.value() % divisor.value() != 0)
    return input_error("{} must be divisible by {}", whole, parts);
  return graph::Shape{floor_div(extent, divisor)};
}

Result<graph::Shape> state_shape(Call& call, const StateRow& row) {
  graph::Shape shape;
  for (const std::string& text : split(row.shape, ',')) {
    for (const graph::Dim& extent : KW_TRY(state_extents(call, text))) {
      if (extent.value() < 0)
        return input_error("{}(): '{}' is {}, below 0", call.function(), text, extent.value());
      shape.push_back(extent);
    }
  }
  return shape;
}

Tensor placeholder(TraceState& trace, tensor::DType dtype, graph::Shape shape, task::Legal legal) {
  const std::string name = fmt::format("parameter {}", trace.parameters.size());
  const graph::NodeId node = trace.graph.input(name, dtype, std::move(shape));
  trace.parameters.push_back({node, std::move(legal), true});
  return new_tensor(node);
}

}  // namespace

bool is_library_module(std::string_view name) {
  return find_module(name) || is_module_container(name);
}

State state_of(const Object& module) {
  State out;
  std::set<const void*> seen = {&module};
  for (const std::string& name : module.order) collect(module.attributes.at(name), name, out, seen);
  return out;
}

std::vector<std::pair<std::string, std::shared_ptr<Object>>> modules_of(
    const std::shared_ptr<Object>& module) {
  std::vector<std::pair<std::string, std::shared_ptr<Object>>> out;
  collect_modules(module, "", out);
  return out;
}

Result<Value> make_parameter(TraceState& trace, const Value& value) {
  const auto* tensor = value.get<Tensor>();
  if (!tensor) return input_error("nn.Parameter needs a tensor, not {}", type_name(value));
  const graph::NodeId node = KW_TRY(node_of(trace, *tensor));
  const std::optional<double> filled = number_throughout(trace, node);
  Tensor made = placeholder(trace, trace.graph[node].dtype, trace.graph[node].shape, {});
  trace.parameters.back().filled = filled;
  return Value(std::move(made));
}

namespace {

Status fill_module(TraceState& trace, Object& object, const ModuleRow& row, Arguments arguments) {
  Call call = KW_TRY(Call::bind(trace.graph, row.name, row.signature,
                                std::move(arguments.positional), std::move(arguments.keywords)));
  tensor::DType dtype = trace.default_dtype;
  for (const std::string& name : parameter_names(row.signature)) {
    const bool is_state = std::any_of(row.state.begin(), row.state.end(),
                                      [&](const StateRow& state) { return state.name == name; });
    if (name == "dtype")
      dtype = KW_TRY(call.dtype("dtype")).value_or(trace.default_dtype);
    else if (!is_state)
      object.set(name, call[name]);
  }
  if (std::string_view(row.name) == "Embedding" && call.given("max_norm"))
    return input_error("Embedding(): max_norm, which rewrites the table, is not supported");
  for (const StateRow& state : row.state) {
    const bool present = KW_TRY(wanted(call, state));
    if (!present) {
      object.set(state.name, None{});
      continue;
    }
    task::Legal legal;
    legal.positive = state.positive;
    object.set(state.name,
               Value(placeholder(trace, dtype, KW_TRY(state_shape(call, state)), legal)));
    trace.parameters.back().trained = !state.buffer;
    trace.parameters.back().filled = state.filled;
  }
  return Done{};
}

Status fill_container(TraceState& trace, Object& object, const std::string& kind,
                      Arguments arguments) {
  object.holding = kind.ends_with("Dict")      ? Holding::Keys
                   : kind.starts_with("Param") ? Holding::Parameters
                                               : Holding::Modules;
  std::vector<Value> items = arguments.positional;
  const auto* dict = items.empty() ? nullptr : items[0].get<std::shared_ptr<Dict>>();
  if (dict) {
    for (const auto& [key, value] : (*dict)->items) object.set(to_text(key), value);
    return Done{};
  }
  if (kind != "Sequential" && !items.empty()) {
    const std::vector<Value> listed = KW_TRY(iterate(trace, items[0]));
    items = listed;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const bool module = items[i].get<std::shared_ptr<Object>>() || items[i].get<Tensor>();
    if (!module) return input_error("nn.{} holds modules, not {}", kind, type_name(items[i]));
    object.set(fmt::format("{}", i), items[i]);
  }
  return Done{};
}

}  // namespace

Status assign_module_item(TraceState& trace, const std::shared_ptr<Object>& object,
                          const Value& index, const Value& value) {
  const auto* key = index.get<std::string>();
  if (object->holding == Holding::Keys && key) {
    object->set(*key, value);
    return Done{};
  }
  if (const Value* method = object->cls->find("__setitem__")) {
    KW_TRY(invoke(trace, *method, {{Value(object), index, value}, {}}));
    return Done{};
  }
  if (object->holding != Holding::Modules && object->holding != Holding::Parameters)
    return input_error("items of a {} cannot be assigned", object->cls->name);
  std::vector<Value> names;
  for (const std::string& name : held_names(*object)) names.emplace_back(name);
  const Value name = KW_TRY(container_item(trace.graph, make_list(std::move(names)), index));
  if (!name.get<std::string>())
    return input_error("assigning to a slice of modules is not supported");
  object->set(*name.get<std::string>(), value);
  return Done{};
}

Result<Value> slice_module(TraceState& trace, const Object& container, const Value& items) {
  const std::string kind = library_base(*container.cls);
  if (container.cls->library.empty())
    return input_error("slicing a {} is not supported\nslice a list of its modules, {}",
                       container.cls->name, kWayOut);
  return make_library_module(
      trace, kind, kind == "Sequential" ? Arguments{*items_of(items), {}} : Arguments{{items}, {}});
}

Result<Value> make_library_module(TraceState& trace, const std::string& name, Arguments arguments) {
  auto object = std::make_shared<Object>();
  object->cls = std::make_shared<Class>();
  object->cls->name = name;
  object->cls->kind = ClassKind::Module;
  object->cls->library = "torch.nn." + name;
  object->training = !trace.settings.evaluation;
  trace.objects.push_back(object);
  KW_TRY(module_method(trace, object, "__init__", std::move(arguments)));
  return Value(std::move(object));
}

namespace {

Result<Value> run_library_module(TraceState& trace, const Object& module, const std::string& name,
                                 Arguments arguments) {
  const ModuleRow* row = find_module(name);
  if (name == "Sequential") {
    if (arguments.positional.size() != 1) return input_error("Sequential takes one input");
    Value value = arguments.positional[0];
    for (const Value& step : module_items(module).value_or(std::vector<Value>()))
      value = KW_TRY(invoke(trace, step, {{value}, {}}));
    return value;
  }
  if (!row) return input_error("nn.{} has no forward()", name);
  if (row->function[0] == '\0') {
    if (arguments.positional.empty()) return input_error("Identity needs an input");
    return arguments.positional[0];
  }
  const auto running = module.attributes.find("running_mean");
  const bool tracked = running != module.attributes.end() && !running->second.is_none();
  for (const std::string& piece : split(row->arguments, ',')) {
    const size_t equals = piece.find('=');
    if (equals == std::string::npos) continue;
    const std::string source(trim(piece.substr(equals + 1)));
    const auto found = module.attributes.find(source);
    Value value;
    if (source == "training")
      value = module.training;
    else if (source == "batch_statistics")
      value = module.training || !tracked;
    else if (source == "channels")
      value = graph::Dim(-3);
    else if (found != module.attributes.end())
      value = found->second;
    else
      return input_error("{} was not initialised: super().__init__() is missing", name);
    const bool is_false = value.get<bool>() && !*value.get<bool>();
    if (source == "inplace" && is_false) continue;
    arguments.keywords.emplace_back(std::string(trim(piece.substr(0, equals))), std::move(value));
  }
  const std::string function = row->function;
  trace.graph.at(function.substr(function.rfind('.') + 1));
  return call_row(trace, function, std::move(arguments));
}

}  // namespace

Result<Value> call_object(TraceState& trace, const std::shared_ptr<Object>& object,
                          Arguments arguments) {
  const std::shared_ptr<Object> kept = object;
  const bool module = kept->cls->kind == ClassKind::Module;
  for (const Value& hook : std::vector<Value>(kept->before)) {
    const Value inputs = make_tuple(arguments.positional);
    const Value changed = KW_TRY(invoke(trace, hook, {{Value(kept), inputs}, {}}));
    if (changed.is_none()) continue;
    arguments.positional = items_of(changed) ? *items_of(changed) : std::vector<Value>{changed};
  }
  // A class of the file with its own __call__ replaces nn.Module's, which would call forward.
  const Value* method = kept->cls->find("__call__");
  const auto own = kept->attributes.find("forward");
  if (!method && module && own != kept->attributes.end())
    return invoke(trace, Value(own->second), std::move(arguments));
  if (!method && module) method = kept->cls->find("forward");
  if (method) {
    const auto* function = method->get<std::shared_ptr<Function>>();
    if (!function) return input_error("forward is not a function");
    const Value self(kept);
    arguments.positional.insert(arguments.positional.begin(), self);
    return call_function(trace, **function, std::move(arguments), self);
  }
  const std::string library = library_base(*kept->cls);
  if (library.empty())
    return input_error("'{}' object is not callable: it has no forward()", kept->cls->name);
  return run_library_module(trace, *kept, library, std::move(arguments));
}

namespace {

Result<Value> convert_module(TraceState& trace, const std::shared_ptr<Object>& object,
                             tensor::DType dtype) {
  std::map<const void*, Tensor> known_cells;  // tied weights stay tied
  for (const auto& [path, module] : modules_of(object)) {
    for (auto& [name, value] : module->attributes) {
      const auto* tensor = value.get<Tensor>();
      if (!tensor) continue;
      if (const auto done = known_cells.find(tensor->cell.get()); done != known_cells.end()) {
        value = done->second;
        continue;
      }
      const graph::NodeId node = KW_TRY(node_of(trace, *tensor));
      if (!tensor::is_float(trace.graph[node].dtype) || trace.graph[node].dtype == dtype) continue;
      const auto known = std::find_if(trace.parameters.begin(), trace.parameters.end(),
                                      [&](const Drawn& one) { return one.node == node; });
      const std::optional<Drawn> state =
          known == trace.parameters.end() ? std::nullopt : std::optional<Drawn>(*known);
      const Tensor converted =
          state ? placeholder(trace, dtype, trace.graph[node].shape, state->legal)
                : new_tensor(trace.graph.cast(node, dtype));
      if (state) {
        trace.parameters.back().trained = state->trained;
        trace.parameters.back().filled = state->filled;
      }
      known_cells[tensor->cell.get()] = converted;
      value = converted;
    }
  }
  return Value(object);
}

Result<Value> init_module(TraceState& trace, const std::shared_ptr<Object>& object,
                          Arguments arguments) {
  const std::string library = library_base(*object->cls);
  if (library.empty()) return Value();
  if (is_module_container(library)) {
    KW_TRY(fill_container(trace, *object, library, std::move(arguments)));
    return Value();
  }
  const ModuleRow* row = find_module(library);
  if (!row) return input_error(unknown_module(library));
  KW_TRY(fill_module(trace, *object, *row, std::move(arguments)));
  return Value();
}

Result<Value> list_state(TraceState& trace, const std::shared_ptr<Object>& object,
                         const std::string& name) {
  std::vector<Value> result;
  const bool named = name.starts_with("named_");
  const auto add = [&](const std::string& path, Value value) {
    result.push_back(named ? make_tuple({path, std::move(value)}) : std::move(value));
  };
  if (name.ends_with("parameters") || name.ends_with("buffers")) {
    for (const auto& [path, tensor] : state_of(*object)) {
      if (is_parameter(trace, tensor) == name.ends_with("parameters")) add(path, tensor);
    }
    return make_list(std::move(result));
  }
  const bool direct = name.ends_with("children");
  for (const auto& [path, module] : modules_of(object)) {
    const bool child = !path.empty() && path.find('.') == std::string::npos;
    if (!direct || child) add(path, module);
  }
  return make_list(std::move(result));
}

std::optional<tensor::DType> dtype_of_method(const std::string& name, const Arguments& arguments) {
  if (name == "half") return tensor::DType::Fp16;
  if (name == "float") return tensor::DType::Fp32;
  if (name == "double") return tensor::DType::Fp64;
  if (name == "bfloat16") return tensor::DType::Bf16;
  for (const Value& one : arguments.positional) {
    if (const auto* type = one.get<DTypeValue>()) return type->dtype;
  }
  for (const auto& [key, one] : arguments.keywords) {
    if (const auto* type = one.get<DTypeValue>()) return type->dtype;
  }
  return std::nullopt;
}

Result<Value> container_method(TraceState& trace, const std::shared_ptr<Object>& object,
                               const std::string& name, const std::vector<Value>& given) {
  const bool listed = object->holding == Holding::Modules || object->holding == Holding::Parameters;
  if (listed && (name == "append" || name == "extend") && given.size() == 1) {
    std::vector<Value> added = {given[0]};
    if (name == "extend") added = KW_TRY(iterate(trace, given[0]));
    for (const Value& one : added) object->set(fmt::format("{}", held_names(*object).size()), one);
    return Value(object);
  }
  if (object->holding == Holding::Keys && name == "update" && given.size() == 1) {
    const auto* dict = given[0].get<std::shared_ptr<Dict>>();
    if (!dict) return input_error("update() of nn containers takes a dict");
    for (const auto& [key, value] : (*dict)->items) object->set(to_text(key), value);
    return Value();
  }
  if (name == "keys" || name == "values" || name == "items") {
    std::vector<Value> result;
    for (const std::string& key : held_names(*object)) {
      const Value& value = object->attributes.at(key);
      result.push_back(name == "keys"     ? Value(key)
                       : name == "values" ? value
                                          : make_tuple({key, value}));
    }
    return make_list(std::move(result));
  }
  if (name == "insert") return input_error("insert() into nn containers is not supported");
  return Value(object);  // apply, requires_grad_, cuda, ctx.save_for_backward: no effect on values
}

}  // namespace

Result<Value> module_method(TraceState& trace, const std::shared_ptr<Object>& object,
                            const std::string& name, Arguments arguments) {
  const std::vector<Value>& given = arguments.positional;
  if (name == "__init__") return init_module(trace, object, std::move(arguments));
  // Only torch.nn's own forward gets here: a forward of the file is found as an attribute.
  if (name == "forward")
    return run_library_module(trace, *object, library_base(*object->cls), std::move(arguments));
  if (name == "eval" || name == "train") {
    bool training = name == "train";
    if (training && !given.empty()) training = KW_TRY(truth_of(trace, given[0]));
    for (const auto& [path, module] : modules_of(object)) module->training = training;
    return Value(object);
  }
  static const std::set<std::string_view> kConversions = {"to",   "half",   "float",
                                                          "type", "double", "bfloat16"};
  if (kConversions.count(name)) {
    const auto dtype = dtype_of_method(name, arguments);
    return dtype ? convert_module(trace, object, *dtype) : Result<Value>(Value(object));
  }
  if (name.ends_with("parameters") && name != "reset_parameters")
    return list_state(trace, object, name);
  if (name.ends_with("buffers") || name.ends_with("modules") || name.ends_with("children"))
    return list_state(trace, object, name);
  if (name == "register_forward_pre_hook" && given.size() == 1) {
    object->before.push_back(given[0]);
    return Value();
  }
  if (name.starts_with("register_") || name == "add_module") {
    const auto* key = given.empty() ? nullptr : given[0].get<std::string>();
    Value value = given.size() > 1 ? given[1] : Value();
    for (const auto& [keyword, one] : arguments.keywords) {
      if (keyword == "tensor" || keyword == "param" || keyword == "module") value = one;
    }
    if (!key) return input_error("{}() needs a name", name);
    object->set(*key, value);
    return Value();
  }
  return container_method(trace, object, name, given);
}

Result<Value> copy_module(TraceState& trace, const std::shared_ptr<Object>& object,
                          std::map<const void*, Value>& known) {
  if (const auto done = known.find(object.get()); done != known.end()) return done->second;
  auto copied = std::make_shared<Object>(*object);
  trace.objects.push_back(copied);
  known[object.get()] = Value(copied);
  for (const std::string& name : copied->order) {
    const Value value = object->attributes.at(name);
    const auto* tensor = value.get<Tensor>();
    const auto* child = value.get<std::shared_ptr<Object>>();
    if (child) copied->attributes[name] = KW_TRY(copy_module(trace, *child, known));
    if (!tensor) continue;
    const void* cell = tensor->cell.get();
    if (const auto done = known.find(cell); done != known.end()) {
      copied->attributes[name] = done->second;
      continue;
    }
    const graph::NodeId node = KW_TRY(node_of(trace, *tensor));
    Value fresh = new_tensor(node);
    for (const Drawn& one : std::vector<Drawn>(trace.parameters)) {
      if (one.node != node) continue;
      fresh =
          Value(placeholder(trace, trace.graph[node].dtype, trace.graph[node].shape, one.legal));
      trace.parameters.back().trained = one.trained;
      trace.parameters.back().filled = one.filled;
    }
    known[cell] = fresh;
    copied->attributes[name] = fresh;
  }
  return Value(std::move(copied));
}

}  // namespace kw::frontend
