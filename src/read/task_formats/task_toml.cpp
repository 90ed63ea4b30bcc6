// The problem: a misspelt key in task.toml would silently change a task. The choice: one visitor
// reads plain members and refuses other keys (core/toml_reader.h); what has a form of its own
// (tensors, scalars, lists of shapes) is read here. An error names file, line and column, and
// suggests the nearest known key. The alternative, a schema read by a generic checker, gives
// messages without the domain's words.
#include "task_formats/task_toml.h"

#include <fmt/core.h>

#include "core/text.h"
#include "core/toml_reader.h"
#include "frontend/names.h"
#include "tensor/inputs.h"

namespace kw::task_formats {
namespace {

constexpr const char* kRoleWords[] = {"input", "weight"};
constexpr const char* kNanWords[] = {"never", "propagate"};
constexpr const char* kStructureWords[] = {"general", "upper", "lower", "symmetric"};

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<TaskToml> read(const toml::table& root);

 private:
  TomlReader visit(const toml::table& table, std::string where) const {
    return {file_, table, TomlReader::Strings::Any, std::move(where)};
  }
  Error at(const toml::node& node, const std::string& message) const {
    return toml_error(file_, node, message);
  }
  Error wrong(const toml::node& node, std::string_view key, const char* want) const {
    return at(node, fmt::format("'{}' must be {}", key, want));
  }

  Result<const toml::table*> table_at(const toml::table& root, const char* key) const;

  Status read_inputs(const toml::table& table, TaskToml& out) const;
  Result<TomlInput> read_input(const std::string& name, const toml::node& node) const;
  Status check_legal(const toml::table& table, const TomlInput& input) const;
  Status check_type(const toml::table& table, tensor::DType dtype, const task::Legal& legal) const;
  Status read_scalars(const toml::table& table, TaskToml& out) const;
  Result<task::ScalarSpec> read_scalar(const std::string& name, const toml::node& node) const;
  Status read_dims(const toml::table& table, TaskToml& out) const;
  Status read_shapes(const toml::table& table, const char* key, std::vector<task::Dims>& out) const;
  Status read_precision(const toml::table& table, TaskToml& out) const;
  Status read_names(const toml::table& root, const char* key, std::vector<std::string>& out) const;

  std::string file_;
};

Result<const toml::table*> Reader::table_at(const toml::table& root, const char* key) const {
  const toml::node* node = root.get(key);
  if (!node) return nullptr;
  if (!node->is_table()) return wrong(*node, key, "a table");
  return node->as_table();
}

Status Reader::check_legal(const toml::table& table, const TomlInput& input) const {
  const task::Legal& legal = input.tensor.legal;
  const bool empty = (legal.low && legal.high && *legal.low > *legal.high) ||
                     (legal.float_low && legal.float_high && *legal.float_low > *legal.float_high);
  if (empty) return at(table, "no value is legal: the lower bound is above the upper one");
  if (legal.positive && legal.float_high && *legal.float_high <= 0)
    return wrong(*table.get("max"), "max", "above 0 when positive = true is set");
  return check_type(table, input.tensor.dtype, legal);
}

// Bounds of the other kind would have no effect.
Status Reader::check_type(const toml::table& table, tensor::DType dtype,
                          const task::Legal& legal) const {
  const bool floats = tensor::is_float(dtype);
  const auto unused = floats ? std::vector<const char*>{"low", "high", "below", "permutation"}
                             : std::vector<const char*>{"min", "max", "positive"};
  for (const char* key : unused) {
    if (const toml::node* node = table.get(key))
      return at(*node,
                fmt::format("'{}' has no meaning for {}; use {}", key, tensor::dtype_name(dtype),
                            floats ? "min and max" : "low and high"));
  }
  if (floats || dtype == tensor::DType::Bool) return Done{};
  const tensor::IntegerRange type = tensor::integer_limits(dtype);
  const bool outside =
      (legal.low && *legal.low > type.high) || (legal.high && *legal.high < type.low);
  if (outside)
    return at(table, fmt::format("no value is legal: {} ends at {} and {}",
                                 tensor::dtype_name(dtype), type.low, type.high));
  return Done{};
}

Result<TomlInput> Reader::read_input(const std::string& name, const toml::node& node) const {
  TomlInput input;
  if (const auto short_form = node.value<std::string>()) {
    auto tensor = frontend::parse_tensor_text(*short_form);
    if (!tensor) return at(node, tensor.error().message);
    input.tensor = std::move(tensor).value();
    return input;
  }
  const toml::table* table = node.as_table();
  if (!table) return wrong(node, name, "a table or a string like \"fp16[B, D]\"");
  std::string dtype;
  task::Legal legal;
  TomlReader v = visit(*table, fmt::format("[inputs.{}]", name));
  v("dtype", dtype);
  const toml::node* shape_node = v.get("shape");
  v("role", input.role, kRoleWords)("optional", input.optional)("written", input.written);
  v("low", legal.low)("high", legal.high)("below", legal.below);
  v("min", legal.float_low, finite)("max", legal.float_high, finite);
  v("permutation", legal.permutation)("positive", legal.positive);
  v("structure", legal.structure, kStructureWords);
  KW_TRY(v.status());
  const toml::array* shape = shape_node == nullptr ? nullptr : shape_node->as_array();
  if (dtype.empty() || !shape)
    return at(node, fmt::format("[inputs.{}] needs dtype and shape", name));
  std::vector<std::string> extents;
  for (const toml::node& extent : *shape) {
    if (const auto number_value = extent.value_exact<int64_t>())
      extents.push_back(fmt::format("{}", *number_value));
    else if (const auto text_value = extent.value_exact<std::string>())
      extents.push_back(*text_value);
    else
      return wrong(extent, "shape", "a list of strings and integers");
  }
  auto tensor = frontend::parse_tensor_text(fmt::format("{}[{}]", dtype, join(extents, ", ")));
  if (!tensor) return at(node, tensor.error().message);
  input.tensor = std::move(tensor).value();
  input.tensor.legal = std::move(legal);
  KW_TRY(check_legal(*table, input));
  return input;
}

Status Reader::read_inputs(const toml::table& table, TaskToml& out) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!frontend::is_dim_name(name))
      return at(node, fmt::format("'{}' cannot be the name of an input", name));
    out.inputs[name] = KW_TRY(read_input(name, node));
  }
  return Done{};
}

Result<task::ScalarSpec> Reader::read_scalar(const std::string& name,
                                             const toml::node& node) const {
  task::ScalarSpec spec;
  spec.name = name;
  const toml::table* table = node.as_table();
  const toml::node* value = &node;
  std::string dtype;
  if (table) {
    TomlReader v = visit(*table, fmt::format("[scalars.{}]", name));
    v("dtype", dtype);
    value = v.get("value");
    KW_TRY(v.status());
    if (!value) return at(node, fmt::format("[scalars.{}] needs a value", name));
  }
  if (value->is_boolean()) {
    spec.dtype = tensor::DType::Bool;
    spec.integer = value->value<bool>().value_or(false) ? 1 : 0;
  } else if (value->is_integer()) {
    spec.dtype = tensor::DType::Int64;
    spec.integer = value->value<int64_t>().value_or(0);
    spec.number = static_cast<double>(spec.integer);
  } else if (value->is_floating_point()) {
    spec.number = value->value<double>().value_or(0);
  } else {
    return wrong(node, name, "a number, true or false");
  }
  if (dtype.empty()) return spec;
  const auto type = frontend::dtype_from_text(dtype);
  if (!type)
    return at(node, fmt::format("unknown dtype '{}'{}", dtype,
                                did_you_mean(dtype, tensor::dtype_names())));
  const bool was_float = tensor::is_float(spec.dtype);
  if (was_float && !tensor::is_float(*type))
    return at(node, fmt::format("{} is not {}", spec.number, tensor::dtype_name(*type)));
  spec.dtype = *type;
  return spec;
}

Status Reader::read_scalars(const toml::table& table, TaskToml& out) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    out.scalars[name] = KW_TRY(read_scalar(name, node));
  }
  return Done{};
}

Status Reader::read_dims(const toml::table& table, TaskToml& out) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!frontend::is_dim_name(name))
      return at(node, fmt::format("'{}' cannot be the name of a dim", name));
    task::DimRange range;
    const toml::table* inner = node.as_table();
    if (!inner) return wrong(node, name, "a table: { min = 1, max = 4096, multiple = 8 }");
    TomlReader v = visit(*inner, fmt::format("[dims.{}]", name));
    v("min", range.low, Within{0})("max", range.high)("multiple", range.multiple, Within{1});
    KW_TRY(v.status());
    if (range.high / range.multiple * range.multiple < range.low)
      return at(node, fmt::format("dim {}: no value lies between {} and {} in steps of {}", name,
                                  range.low, range.high, range.multiple));
    out.dims[name] = range;
  }
  return Done{};
}

Status Reader::read_shapes(const toml::table& table, const char* key,
                           std::vector<task::Dims>& out) const {
  const toml::node* node = table.get(key);
  if (!node) return Done{};
  const toml::array* list = node->as_array();
  if (!list) return wrong(*node, key, "a list of shapes: [{ B = 16, D = 1024 }]");
  for (const toml::node& one : *list) {
    const toml::table* shape = one.as_table();
    if (!shape) return wrong(one, key, "a list of shapes: [{ B = 16, D = 1024 }]");
    task::Dims dims;
    for (const auto& [name, value] : *shape) {
      const auto number_value = value.value_exact<int64_t>();
      if (!number_value) return wrong(value, name.str(), "an integer");
      dims[std::string(name.str())] = *number_value;
    }
    out.push_back(std::move(dims));
  }
  return Done{};
}

Status Reader::read_precision(const toml::table& table, TaskToml& out) const {
  task::Precision& precision = out.precision;
  out.allow_tf32_given = table.contains("allow_tf32");
  TomlReader v = visit(table, "[precision]");
  v("allow_tf32", precision.allow_tf32)("flush", precision.flush);
  v("deterministic", precision.deterministic)("nan", precision.nan, kNanWords);
  v("atol", precision.atol, Within{0})("rtol", precision.rtol, Within{0});
  return v.status();
}

Status Reader::read_names(const toml::table& root, const char* key,
                          std::vector<std::string>& out) const {
  const toml::node* node = root.get(key);
  if (!node) return Done{};
  const toml::array* list = node->as_array();
  if (!list) return wrong(*node, key, "a list of names");
  for (const toml::node& one : *list) {
    const auto name = one.value_exact<std::string>();
    if (!name || !frontend::is_dim_name(*name)) return wrong(one, key, "a list of names");
    out.push_back(*name);
  }
  return Done{};
}

Result<TaskToml> Reader::read(const toml::table& root) {
  TaskToml out;
  TomlReader v = visit(root, "task.toml");
  v("name", out.name)("reference", out.reference)("function", out.function)("prompt", out.prompt);
  for (const char* key : {"outputs", "inputs", "scalars", "dims", "shapes", "precision"})
    v.get(key);
  v("backward", out.backward);
  v.get("gradients");
  KW_TRY(v.status());
  KW_TRY(read_names(root, "outputs", out.outputs));
  KW_TRY(read_names(root, "gradients", out.gradients));
  if (!out.gradients.empty() && !out.backward)
    return wrong(*root.get("gradients"), "gradients", "absent unless backward = true is set");
  const toml::table* inputs = KW_TRY(table_at(root, "inputs"));
  if (inputs) KW_TRY(read_inputs(*inputs, out));
  const toml::table* scalars = KW_TRY(table_at(root, "scalars"));
  if (scalars) KW_TRY(read_scalars(*scalars, out));
  const toml::table* dims = KW_TRY(table_at(root, "dims"));
  if (dims) KW_TRY(read_dims(*dims, out));
  const toml::table* shapes = KW_TRY(table_at(root, "shapes"));
  if (shapes) {
    TomlReader keys = visit(*shapes, "[shapes]");
    for (const char* key : {"correctness", "benchmark"}) keys.get(key);
    KW_TRY(keys.status());
    KW_TRY(read_shapes(*shapes, "correctness", out.correctness));
    KW_TRY(read_shapes(*shapes, "benchmark", out.benchmark));
  }
  const toml::table* precision = KW_TRY(table_at(root, "precision"));
  if (precision) KW_TRY(read_precision(*precision, out));
  return out;
}

}  // namespace

Result<TaskToml> parse_task_toml(const std::string& text, const std::string& file_name) {
  const toml::table root = KW_TRY(parse_toml(text, file_name));
  return Reader(file_name).read(root);
}

}  // namespace kw::task_formats
