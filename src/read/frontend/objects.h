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

#include "core/json.h"
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
  std::weak_ptr<Class> owner;         // the class it was defined in: what super() starts from
  const Source* library = nullptr;    // where the tree is, if that is not the file
  std::optional<bool> gradient = {};  // whether what it computes has one, where a decorator says so
};

enum class ClassKind : uint8_t { Plain, Module, Tuple, Data };

struct Class {
  std::string name;
  ClassKind kind = ClassKind::Plain;
  std::vector<std::shared_ptr<Class>> bases;
  std::vector<std::shared_ptr<Class>> line;  // where attributes are looked for after itself: C3
  std::map<std::string, Value> attributes;
  std::vector<std::string> fields;  // dataclass and NamedTuple, in order
  std::string library;              // "torch.nn.Linear": a module of the library; else empty

  const Value* find(const std::string& attribute) const;
  bool derives_from(std::string_view class_name) const;
};

/// The order in which Python asks a class's bases; nothing where it would refuse such bases.
std::optional<std::vector<std::shared_ptr<Class>>> line_of_bases(
    const std::vector<std::shared_ptr<Class>>& bases);

/// What iterating over an object gives.
enum class Holding : uint8_t {
  Nothing,
  Fields,      // of a NamedTuple
  Modules,     // nn.Sequential, nn.ModuleList: every module among the attributes
  Parameters,  // nn.ParameterList
  Keys,        // nn.ModuleDict, nn.ParameterDict
};

struct Object {
  std::shared_ptr<Class> cls;
  std::map<std::string, Value> attributes;
  std::vector<std::string> order;  // attributes as first set: modules are visited like that
  Holding holding = Holding::Nothing;
  bool training = true;
  std::vector<Value> before;  // forward: register_forward_pre_hook

  void set(const std::string& name, Value value);
};

/// Names of the attributes that an object holds as its items.
std::vector<std::string> held_names(const Object& object);
/// Items of an object that is a sequence; nothing for others.
std::optional<std::vector<Value>> module_items(const Object& object);

}  // namespace kw::frontend
