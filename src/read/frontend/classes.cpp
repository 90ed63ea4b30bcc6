// Classes of the file and their objects: nn.Module, dataclass, NamedTuple, autograd.Function. Most
// references are classes with methods, inheritance and super(). We follow Python's attribute
// lookup, with C3 order, on maps of names. The alternative, to support only nn.Module with a fixed
// form, would refuse many files. Unknown base classes of libraries are refused; metaclasses are
// ignored. Of torch.autograd.Function only forward() is evaluated.
#include "frontend/classes.h"

#include <algorithm>

#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/library_rows.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/statements.h"
#include "frontend/tensors.h"
#include "frontend/torch_library.h"

namespace kw::frontend {
namespace {

Result<std::shared_ptr<Class>> base_class(TraceState& trace, const Value& base) {
  if (const auto* cls = base.get<std::shared_ptr<Class>>()) return *cls;
  const auto* library = base.get<Library>();
  if (!library) return input_error("a {} cannot be a base class", type_name(base));
  const std::string name = canonical(library->name);
  const std::string word = name.substr(name.rfind('.') + 1);
  const std::optional<Value> ours = KW_TRY(library_definition(trace, name));
  if (ours && ours->get<std::shared_ptr<Class>>()) return *ours->get<std::shared_ptr<Class>>();
  auto cls = std::make_shared<Class>();
  cls->name = word;
  cls->library = name;
  if (name == "torch.nn.Module" || name == "torch.jit.ScriptModule") {
    cls->kind = ClassKind::Module;
  } else if (name.starts_with("torch.nn.") && is_library_module(word)) {
    cls->kind = ClassKind::Module;
  } else if (word == "NamedTuple") {
    cls->kind = ClassKind::Tuple;
  } else if (name == "enum.Enum") {
    cls->kind = ClassKind::Enum;
  } else if (name != "torch.autograd.Function" && word != "object" && word != "Generic" &&
             word != "Protocol" && word != "ABC" && !word.ends_with("Error") &&
             !word.ends_with("Exception")) {
    return input_error("the base class {} is not supported\n{}", name, kWayOut + 3);
  }
  return cls;
}

/// The members of an Enum are objects with a name and a value. Mixed-in types (`str, Enum`), whose
/// members equal plain values, are refused with their base.
Status make_members(TraceState& trace, const std::shared_ptr<Class>& cls) {
  if (cls->bases.size() != 1)
    return input_error("the Enum {} has a second base class\nuse one base, {}", cls->name, kWayOut);
  for (auto& [name, value] : cls->attributes) {
    if (name.starts_with("_") || value.get<std::shared_ptr<Function>>()) continue;
    if (value.get<std::shared_ptr<Object>>()) continue;
    auto member = std::make_shared<Object>();
    member->cls = cls;
    trace.objects.push_back(member);
    member->set("name", Value(name));
    member->set("value", value);
    value = Value(std::move(member));
  }
  return Done{};
}

/// Mode("mean"): the member of that value.
Result<Value> member_of(const Class& cls, const Arguments& arguments) {
  for (const auto& [name, value] : cls.attributes) {
    const auto* member = value.get<std::shared_ptr<Object>>();
    if (!member || arguments.positional.size() != 1) continue;
    const Value& wanted = arguments.positional[0];
    if (same(value, wanted) || same((*member)->attributes.at("value"), wanted)) return value;
  }
  return input_error("{} has no such member", cls.name);
}

std::string name_within(const std::string& cls, const std::string& name) {
  if (!name.starts_with("__") || name.ends_with("__")) return name;
  const size_t start = cls.find_first_not_of('_');
  return start == std::string::npos ? name : "_" + cls.substr(start) + name;
}

}  // namespace

std::string private_name(const TraceState& trace, const std::string& name) {
  const Function* function = trace.frames.empty() ? nullptr : trace.frames.back()->function;
  const std::shared_ptr<Class> owner = function ? function->owner.lock() : nullptr;
  return owner ? name_within(owner->name, name) : name;
}

Result<Value> make_class(TraceState& trace, const Json& statement) {
  auto cls = std::make_shared<Class>();
  cls->name = statement["name"].as_string();
  for (const Json& node : statement["bases"].items()) {
    const Value value = KW_TRY(eval(trace, node));
    auto base = base_class(trace, value);
    if (!base) return trace.located(node, std::move(base).error());
    if ((*base)->kind != ClassKind::Plain) cls->kind = (*base)->kind;
    cls->fields.insert(cls->fields.end(), (*base)->fields.begin(), (*base)->fields.end());
    cls->bases.push_back(std::move(base).value());
  }
  auto line = line_of_bases(cls->bases);
  if (!line) return input_error("the bases of {} have no consistent order", cls->name);
  cls->line = std::move(*line);
  Frame frame;
  frame.scope = std::make_shared<Scope>();
  frame.scope->is_class = true;
  frame.library = trace.library();
  frame.scope->outer = trace.scope();
  trace.scopes.push_back(frame.scope);
  trace.frames.push_back(&frame);
  auto flow = run_all(trace, statement["body"]);
  trace.frames.pop_back();
  if (!flow) return std::move(flow).error();
  for (auto& [name, value] : frame.scope->names) {
    if (name == "__fields__") {
      for (const Value& field : *items_of(value)) cls->fields.push_back(to_text(field));
      continue;
    }
    if (const auto* function = value.get<std::shared_ptr<Function>>()) (*function)->owner = cls;
    cls->attributes[name_within(cls->name, name)] = value;
  }
  if (cls->kind == ClassKind::Enum) KW_TRY(make_members(trace, cls));
  return Value(std::move(cls));
}

namespace {

Status fill_fields(Object& object, const Arguments& arguments) {
  const Class& cls = *object.cls;
  if (arguments.positional.size() > cls.fields.size())
    return input_error("{}() takes {} arguments but {} were given", cls.name, cls.fields.size(),
                       arguments.positional.size());
  for (size_t i = 0; i < cls.fields.size(); ++i) {
    const std::string& field = cls.fields[i];
    const auto keyword = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                      [&](const auto& one) { return one.first == field; });
    const Value* fallback = cls.find(field);
    if (i < arguments.positional.size())
      object.set(field, arguments.positional[i]);
    else if (keyword != arguments.keywords.end())
      object.set(field, keyword->second);
    else if (fallback)
      object.set(field, *fallback);
    else
      return input_error("{}() missing required argument '{}'", cls.name, field);
  }
  if (cls.kind != ClassKind::Tuple) return Done{};
  object.holding = Holding::Fields;
  return Done{};
}

}  // namespace

Result<Value> instantiate(TraceState& trace, const std::shared_ptr<Class>& cls,
                          Arguments arguments) {
  if (cls->kind == ClassKind::Enum) return member_of(*cls, arguments);
  auto object = std::make_shared<Object>();
  object->cls = cls;
  object->training = !trace.settings.evaluation;
  trace.objects.push_back(object);
  const Value self(object);
  const Value* init = cls->find("__init__");
  if (init && init->get<std::shared_ptr<Function>>()) {
    arguments.positional.insert(arguments.positional.begin(), self);
    KW_TRY(
        call_function(trace, **init->get<std::shared_ptr<Function>>(), std::move(arguments), self));
  } else if (cls->kind == ClassKind::Data || cls->kind == ClassKind::Tuple) {
    KW_TRY(fill_fields(*object, arguments));
    for (const std::string& field : cls->fields) {
      const auto* maker = object->attributes[field].get<std::shared_ptr<Object>>();
      if (maker && (*maker)->cls->name == kFieldMaker)
        object->set(field, KW_TRY(invoke(trace, (*maker)->attributes.at("default_factory"), {})));
    }
    const Value* after = cls->find("__post_init__");
    if (after) KW_TRY(invoke(trace, *after, {{self}, {}}));
  } else if (cls->kind == ClassKind::Module) {
    KW_TRY(module_method(trace, object, "__init__", std::move(arguments)));
  } else if (!arguments.positional.empty() || !arguments.keywords.empty()) {
    return input_error("{}() takes no arguments", cls->name);
  }
  return self;
}

Result<Value> make_plain_object(TraceState& trace, const std::string& name) {
  auto object = std::make_shared<Object>();
  object->cls = std::make_shared<Class>();
  object->cls->name = name;
  trace.objects.push_back(object);
  return Value(std::move(object));
}

// ctx of torch.autograd.Function: forward saves values there for backward only.
Result<Value> apply_autograd(TraceState& trace, const std::shared_ptr<Class>& cls,
                             Arguments arguments) {
  const Value* forward = cls->find("forward");
  if (!forward) return input_error("{} has no forward()", cls->name);
  Value context = KW_TRY(make_plain_object(trace, "ctx"));
  arguments.positional.insert(arguments.positional.begin(), std::move(context));
  return invoke(trace, *forward, std::move(arguments));
}

// An object whose attributes are those of the bases, bound to the real object.
Result<Value> make_super(TraceState& trace, Arguments arguments) {
  std::shared_ptr<Class> owner;
  Value self;
  if (arguments.positional.size() == 2) {
    if (const auto* cls = arguments.positional[0].get<std::shared_ptr<Class>>()) owner = *cls;
    self = arguments.positional[1];
  } else if (!trace.frames.empty() && trace.frames.back()->function) {
    owner = trace.frames.back()->function->owner.lock();
    self = trace.frames.back()->self;
  }
  if (!owner || !self.get<std::shared_ptr<Object>>())
    return input_error("super() works inside a method only");
  auto stand_in = std::make_shared<Object>();
  stand_in->cls = std::make_shared<Class>();
  stand_in->cls->name = "super";
  stand_in->cls->kind = owner->kind;
  // The classes after the owner in the line of the object's own class. That class may have more
  // bases in between.
  const std::vector<std::shared_ptr<Class>>& line =
      (*self.get<std::shared_ptr<Object>>())->cls->line;
  const auto place = std::find(line.begin(), line.end(), owner);
  stand_in->cls->line.assign(place == line.end() ? line.begin() : place + 1, line.end());
  stand_in->attributes["__self__"] = self;
  return Value(std::move(stand_in));
}

namespace {

Result<std::optional<Value>> object_attribute(TraceState& trace,
                                              const std::shared_ptr<Object>& object,
                                              const std::string& name) {
  const bool is_super = object->cls->name == "super" && object->attributes.count("__self__");
  const Value self = is_super ? object->attributes["__self__"] : Value(object);
  if (!is_super) {
    const auto own = object->attributes.find(name);
    if (own != object->attributes.end()) return std::optional(own->second);
    if (name == "training" && object->cls->kind == ClassKind::Module)
      return std::optional(Value(object->training));
    if (name == "__class__") return std::optional(Value(object->cls));
  }
  if (const Value* found = object->cls->find(name)) {
    const auto* function = found->get<std::shared_ptr<Function>>();
    if (!function || (*function)->binding == Binding::Static) return std::optional(*found);
    if ((*function)->binding == Binding::Property) {
      Value value = KW_TRY(call_function(trace, **function, {{self}, {}}, self));
      return std::optional(std::move(value));
    }
    const Value bound_to = (*function)->binding == Binding::Class ? Value(object->cls) : self;
    return std::optional(
        Value(std::make_shared<BoundMethod>(BoundMethod{bound_to, name, *function})));
  }
  const bool served = object->cls->kind == ClassKind::Module
                          ? is_module_method(name)
                          : is_super || object->cls->name == "ctx";
  if (!served) return std::optional<Value>();
  return std::optional(Value(std::make_shared<BoundMethod>(BoundMethod{self, name, nullptr})));
}

}  // namespace

Result<std::optional<Value>> attribute(TraceState& trace, const Value& value,
                                       const std::string& name) {
  const auto method = [&] {
    return std::optional(Value(std::make_shared<BoundMethod>(BoundMethod{value, name, nullptr})));
  };
  if (const auto* tensor = value.get<Tensor>()) return tensor_attribute(trace, *tensor, name);
  if (const auto* object = value.get<std::shared_ptr<Object>>())
    return object_attribute(trace, *object, name);
  if (const auto* library = value.get<Library>()) {
    const std::string full = library->name + "." + name;
    const std::optional<Value> ours = KW_TRY(library_definition(trace, canonical(library->name)));
    if (ours) return attribute(trace, *ours, name);
    if (auto constant = library_constant(full)) return constant;
    return std::optional(Value(Library{full}));
  }
  if (const auto* cls = value.get<std::shared_ptr<Class>>()) {
    if (name == "__name__") return std::optional(Value((*cls)->name));
    if (name == "apply" && (*cls)->derives_from("torch.autograd.Function")) return method();
    const Value* found = (*cls)->find(name);
    if (!found) return std::optional<Value>();
    const auto* function = found->get<std::shared_ptr<Function>>();
    if (!function || (*function)->binding != Binding::Class) return std::optional(*found);
    return std::optional(Value(std::make_shared<BoundMethod>(BoundMethod{value, name, *function})));
  }
  if (const auto* type = value.get<DTypeValue>()) {
    if (name == "is_floating_point") return std::optional(Value(tensor::is_float(type->dtype)));
    if (name == "itemsize")
      return std::optional(Value(graph::Dim(tensor::dtype_size(type->dtype))));
    return std::optional<Value>();
  }
  if (const auto* function = value.get<std::shared_ptr<Function>>()) {
    if (name == "__name__") return std::optional(Value((*function)->name));
    return std::optional<Value>();
  }
  if (value.get<std::string>() && (name == "type" || name == "index"))
    return std::optional(value);  // torch.device("cuda").type
  if (is_number(value)) {
    if (name == "real") return std::optional(value);
    return std::optional<Value>();
  }
  if (const auto* tuple = value.get<std::shared_ptr<Tuple>>()) {
    const std::vector<std::string>& fields = (*tuple)->fields;
    const auto field = std::find(fields.begin(), fields.end(), name);
    if (field != fields.end())
      return std::optional((*tuple)->items[static_cast<size_t>(field - fields.begin())]);
  }
  if (items_of(value) || value.get<std::string>() || value.get<std::shared_ptr<Dict>>())
    return method();
  return std::optional<Value>();
}

Status set_attribute(TraceState& trace, const Value& object, const std::string& name,
                     const Value& value) {
  if (const auto* target = object.get<std::shared_ptr<Object>>()) {
    if (name == "training") (*target)->training = KW_TRY(truth_of(trace, value));
    (*target)->set(name, value);
    return Done{};
  }
  if (const auto* cls = object.get<std::shared_ptr<Class>>()) {
    (*cls)->attributes[name] = value;
    return Done{};
  }
  if (const auto* library = object.get<Library>()) {
    if (name == "allow_tf32" && library->name.find("matmul") != std::string::npos)
      trace.allow_tf32 = KW_TRY(truth_of(trace, value));
    if (library->name.starts_with("torch.backends")) return Done{};
    return input_error("{}.{} cannot be assigned", library->name, name);
  }
  if (const auto* tensor = object.get<Tensor>()) {
    if (name == "requires_grad" || name == "grad" || name == "names") return Done{};
    const auto* data = value.get<Tensor>();
    if (name == "data" && data) {
      if (is_parameter(trace, *tensor) && trace.randomness == Randomness::Weight) {
        note_fill(trace, *tensor, number_given(trace, value));
        return Done{};
      }
      if (!trace.frames.empty() && trace.randomness == Randomness::Refused)
        return input_error(
            "an assignment to .data gives the tensor another memory\nwrite x.copy_(y) to change "
            "its values");
      const graph::NodeId node = KW_TRY(node_of(trace, *data));
      return store(trace, *tensor, node, true);
    }
  }
  return input_error("attribute '{}' of a {} cannot be assigned", name, type_name(object));
}

}  // namespace kw::frontend
