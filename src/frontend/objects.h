// What class statements and def statements become, and the scopes their names live in. The
// evaluator's own data; rows of the op tables have no business here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "frontend/value.h"

namespace kw::frontend {

struct Source;

/// Names of one function call, class body or module. Looked up outwards, as Python does.
struct Scope {
  std::map<std::string, Value> names;
  std::shared_ptr<Scope> outer;  // shared: closures outlive the call they were made in
  bool is_class = false;         // class bodies are not seen by the functions inside them

  const Value* find(const std::string& name) const;
};

/// What a class's function gets before its arguments.
enum class Binding : uint8_t { Method, Static, Class, Property };

/// A def or a lambda: its place in the tree, the names around it, its default values.
struct Function {
  std::string name;
  Binding binding = Binding::Method;
  const Json* tree = nullptr;  // the FunctionDef or Lambda; the evaluator owns the file's tree
  std::shared_ptr<Scope> closure;
  std::map<std::string, Value> defaults;
  std::weak_ptr<Class> owner;       // the class it was defined in: what super() starts from
  const Source* library = nullptr;  // where the tree is, if that is not the file
};

enum class ClassKind : uint8_t { Plain, Module, Tuple, Data };

struct Class {
  std::string name;
  ClassKind kind = ClassKind::Plain;
  std::vector<std::shared_ptr<Class>> bases;
  std::map<std::string, Value> attributes;
  std::vector<std::string> fields;  // dataclass and NamedTuple, in order
  std::string library;              // "torch.nn.Linear": a module of the library; else empty

  const Value* find(const std::string& attribute) const;
  bool derives_from(std::string_view class_name) const;
};

struct Object {
  std::shared_ptr<Class> cls;
  std::map<std::string, Value> attributes;
  std::vector<std::string> order;  // attributes as first set: modules are visited like that
  std::vector<Value> items;        // of nn.Sequential and its like, and of a NamedTuple
  bool has_items = false;
  bool training = true;
  std::vector<Value> before;  // forward: register_forward_pre_hook

  void set(const std::string& name, Value value);
};

/// Items of an object that is a sequence; null for others.
const std::vector<Value>* module_items(const Object& object);

}  // namespace kw::frontend
