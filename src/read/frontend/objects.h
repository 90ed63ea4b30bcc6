// Classes, functions and objects of the tracer, and the scopes of their names. The op rows do
// not use them.
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

/// The names of one function call, class body or module. Lookup continues in `outer`.
struct Scope {
  std::map<std::string, Value> names;
  std::shared_ptr<Scope> outer;  // shared: closures outlive the call that made them
  bool is_class = false;         // the functions inside a class body do not see its names

  const Value* find(const std::string& name) const;
};

/// How a function of a class is bound: the object, no argument, the class, or read as an attribute.
enum class Binding : uint8_t { Method, Static, Class, Property };

/// A def or a lambda: its node in the tree, its enclosing scope, its defaults.
struct Function {
  std::string name;
  Binding binding = Binding::Method;
  const Json* tree = nullptr;  // the FunctionDef or Lambda; the tracer owns the file's tree
  std::shared_ptr<Scope> closure;
  std::map<std::string, Value> defaults;
  std::weak_ptr<Class> owner;              // the class that defines it: where super() starts
  const Source* library = nullptr;         // the library source with the tree; null for the file
  std::shared_ptr<Function> wrapped = {};  // of functools.wraps: has the parameters that count
  std::optional<bool> gradient = {};       // set by a decorator: whether its results have gradients
};

enum class ClassKind : uint8_t { Plain, Module, Tuple, Data, Enum };

struct Class {
  std::string name;
  ClassKind kind = ClassKind::Plain;
  std::vector<std::shared_ptr<Class>> bases;
  std::vector<std::shared_ptr<Class>> line;  // bases in the order of attribute lookup (C3)
  std::map<std::string, Value> attributes;
  std::vector<std::string> fields;  // of a dataclass or NamedTuple, in order
  std::string library;              // "torch.nn.Linear" for a module of PyTorch; otherwise empty

  const Value* find(const std::string& attribute) const;
  bool derives_from(std::string_view class_name) const;
};

/// The order in which Python searches these bases; not set if Python would refuse them.
std::optional<std::vector<std::shared_ptr<Class>>> line_of_bases(
    const std::vector<std::shared_ptr<Class>>& bases);

/// The result of iterating over an object.
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
  std::vector<std::string> order;  // attribute names in the order first set: the order of modules
  Holding holding = Holding::Nothing;
  bool training = true;
  std::vector<Value> before;  // hooks of register_forward_pre_hook

  void set(const std::string& name, Value value);
};

/// The names of the attributes that are the object's items.
std::vector<std::string> held_names(const Object& object);
/// The items of an object that is a sequence; not set for other objects.
std::optional<std::vector<Value>> module_items(const Object& object);

}  // namespace kw::frontend
