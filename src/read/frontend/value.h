// The Python values in a trace: numbers, tensors (graph nodes), containers, functions, modules.
// Only what references use; other values are refused by name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/float_value.h"
#include "graph/builder.h"

namespace kw::frontend {

struct Value;
struct None {};
struct Ellipsis {};
struct Cell;  // what a tensor variable refers to; variables may share one (cell.h)
/// A tensor by the node that computes it. Rows read and make plain nodes. The tracer adds cells,
/// which make in-place updates visible through every alias and view.
struct Tensor {
  graph::NodeId node = -1;
  std::shared_ptr<Cell> cell;  // shared: Python variables alias tensors

  Tensor() = default;
  explicit Tensor(graph::NodeId id) : node(id) {}
};
struct List {
  std::vector<Value> items;
};
struct Tuple {
  std::vector<Value> items;
  std::vector<std::string> fields = {};  // torch.return_types.max: "values", "indices"
};
struct Dict {
  std::vector<std::pair<Value, Value>> items;
};
struct SliceValue;  // start:stop:step
struct Function;    // def or lambda, with its closure
struct Class;       // a class statement
struct Object;      // an instance of nn.Module or of a class in the file
struct Library {
  std::string name;
};                   // "torch", "torch.nn.functional", "torch.relu": a name of a known library
struct BoundMethod;  // x.sum, self.helper
struct DTypeValue {
  tensor::DType dtype;
};

/// Python ints are Dims, except runtime scalars and what follows from them (float_value.h), so that
/// arithmetic on shapes keeps its symbols. Lists, dicts and objects are shared, as in Python.
struct Value {
  using Variant =
      std::variant<None, bool, graph::Dim, Float, std::string, Tensor, DTypeValue,
                   std::shared_ptr<List>, std::shared_ptr<Tuple>, std::shared_ptr<Dict>,
                   std::shared_ptr<SliceValue>, std::shared_ptr<Function>, std::shared_ptr<Class>,
                   std::shared_ptr<Object>, std::shared_ptr<BoundMethod>, Library, Ellipsis>;
  Variant v = None{};

  Value() = default;
  Value(double number) : v(Float(number)) {}
  Value(float number) : v(Float(number)) {}
  Value(int number) : v(graph::Dim(number)) {}
  Value(int64_t number) : v(graph::Dim(number)) {}
  template <typename T>
  Value(T value) : v(std::move(value)) {}

  bool is_none() const { return std::holds_alternative<None>(v); }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&v);
  }
};

struct SliceValue {
  Value start, stop, step;
};
struct BoundMethod {
  Value self;
  std::string name;
  std::shared_ptr<Function> function;  // null: looked up by name when it is called
};
/// The arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

Value make_tuple(std::vector<Value> items);
/// A tuple whose items also have names, for torch.max(x, 0).values.
Value make_named_tuple(std::vector<Value> items, std::vector<std::string> fields);
Value make_list(std::vector<Value> items);
/// The items of a list or tuple; null for other values.
const std::vector<Value>* items_of(const Value& value);
/// "Tensor", "int", "tuple", …, as in Python's messages.
std::string type_name(const Value& value);

}  // namespace kw::frontend
