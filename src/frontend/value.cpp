#include "frontend/value.h"

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
  std::string operator()(double) const { return "float"; }
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
  for (const auto& base : bases) {
    if (const Value* found = base->find(attribute)) return found;
  }
  return nullptr;
}

bool Class::derives_from(std::string_view class_name) const {
  if (name == class_name || library == class_name) return true;
  for (const auto& base : bases) {
    if (base->derives_from(class_name)) return true;
  }
  return false;
}

const std::vector<Value>* module_items(const Object& object) {
  return object.has_items ? &object.items : nullptr;
}

void Object::set(const std::string& name, Value value) {
  if (attributes.insert_or_assign(name, std::move(value)).second) order.push_back(name);
}

}  // namespace kw::frontend
