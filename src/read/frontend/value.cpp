#include "frontend/value.h"

#include <algorithm>
#include <deque>

#include "frontend/objects.h"

namespace kw::frontend {

Value make_tuple(std::vector<Value> items) {
  return Value(std::make_shared<Tuple>(Tuple{std::move(items)}));
}

Value make_named_tuple(std::vector<Value> items, std::vector<std::string> fields) {
  return Value(std::make_shared<Tuple>(Tuple{std::move(items), std::move(fields)}));
}

Value make_list(std::vector<Value> items) {
  return Value(std::make_shared<List>(List{std::move(items)}));
}

const std::vector<Value>* items_of(const Value& value) {
  if (const auto* list = value.get<std::shared_ptr<List>>()) return &(*list)->items;
  if (const auto* tuple = value.get<std::shared_ptr<Tuple>>()) return &(*tuple)->items;
  return nullptr;
}

namespace {

struct Name {
  std::string operator()(const None&) const { return "NoneType"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(const graph::Dim&) const { return "int"; }
  std::string operator()(const Float& number) const { return number.is_int() ? "int" : "float"; }
  std::string operator()(const std::string&) const { return "str"; }
  std::string operator()(const Tensor&) const { return "Tensor"; }
  std::string operator()(const DTypeValue&) const { return "torch.dtype"; }
  std::string operator()(const std::shared_ptr<List>&) const { return "list"; }
  std::string operator()(const std::shared_ptr<Tuple>&) const { return "tuple"; }
  std::string operator()(const std::shared_ptr<Dict>&) const { return "dict"; }
  std::string operator()(const std::shared_ptr<SliceValue>&) const { return "slice"; }
  std::string operator()(const std::shared_ptr<Function>&) const { return "function"; }
  std::string operator()(const std::shared_ptr<Class>&) const { return "type"; }
  std::string operator()(const std::shared_ptr<Object>& object) const {
    return object->cls ? object->cls->name : "object";
  }
  std::string operator()(const std::shared_ptr<BoundMethod>&) const { return "method"; }
  std::string operator()(const Library&) const { return "module"; }
  std::string operator()(const Ellipsis&) const { return "ellipsis"; }
};

}  // namespace

std::string type_name(const Value& value) { return std::visit(Name{}, value.v); }

const Value* Scope::find(const std::string& name) const {
  const auto own = names.find(name);
  if (own != names.end()) return &own->second;
  for (const Scope* scope = outer.get(); scope; scope = scope->outer.get()) {
    if (scope->is_class) continue;
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

const Value* Class::find(const std::string& attribute) const {
  const auto own = attributes.find(attribute);
  if (own != attributes.end()) return &own->second;
  for (const auto& base : line) {
    const auto inherited = base->attributes.find(attribute);
    if (inherited != base->attributes.end()) return &inherited->second;
  }
  return nullptr;
}

std::optional<std::vector<std::shared_ptr<Class>>> line_of_bases(
    const std::vector<std::shared_ptr<Class>>& bases) {
  using Line = std::deque<std::shared_ptr<Class>>;
  std::vector<Line> lines;
  for (const auto& base : bases) {
    lines.push_back({base});
    lines.back().insert(lines.back().end(), base->line.begin(), base->line.end());
  }
  lines.emplace_back(bases.begin(), bases.end());
  std::vector<std::shared_ptr<Class>> merged;
  // Each class statement makes its own objects for classes of the library, so they are compared by
  // name.
  const auto same = [](const std::shared_ptr<Class>& a, const std::shared_ptr<Class>& b) {
    return a == b || (!a->library.empty() && a->library == b->library);
  };
  for (;;) {
    std::erase_if(lines, [](const Line& one) { return one.empty(); });
    if (lines.empty()) return merged;
    const auto next = std::find_if(lines.begin(), lines.end(), [&](const Line& candidate) {
      return std::none_of(lines.begin(), lines.end(), [&](const Line& other) {
        return std::any_of(other.begin() + 1, other.end(),
                           [&](const auto& one) { return same(one, candidate.front()); });
      });
    });
    if (next == lines.end()) return std::nullopt;
    merged.push_back(next->front());
    for (Line& one : lines) {
      if (same(one.front(), merged.back())) one.pop_front();
    }
  }
}

bool Class::derives_from(std::string_view class_name) const {
  if (name == class_name || library == class_name) return true;
  for (const auto& base : bases) {
    if (base->derives_from(class_name)) return true;
  }
  return false;
}

std::vector<std::string> held_names(const Object& object) {
  if (object.holding == Holding::Fields) return object.cls->fields;
  std::vector<std::string> names;
  for (const std::string& name : object.order) {
    const Value& value = object.attributes.at(name);
    const auto* child = value.get<std::shared_ptr<Object>>();
    const bool module = child && (*child)->cls->kind == ClassKind::Module;
    const bool parameter = value.get<Tensor>() != nullptr;
    const bool held = object.holding == Holding::Modules      ? module
                      : object.holding == Holding::Parameters ? parameter
                                                              : module || parameter;
    if (held) names.push_back(name);
  }
  return names;
}

std::optional<std::vector<Value>> module_items(const Object& object) {
  if (object.holding == Holding::Nothing || object.holding == Holding::Keys) return std::nullopt;
  std::vector<Value> items;
  for (const std::string& name : held_names(object)) items.push_back(object.attributes.at(name));
  return items;
}

void Object::set(const std::string& name, Value value) {
  if (attributes.insert_or_assign(name, std::move(value)).second) order.push_back(name);
}

}  // namespace kw::frontend
