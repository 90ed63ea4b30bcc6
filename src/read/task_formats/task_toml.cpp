// The problem: a misspelt key in task.toml would silently change a task. The choice: every table
// lists its known keys, and each value is read by a function that checks its type. An error names
// file, line and column, and suggests the nearest known key. The alternative, a schema read by a
// generic checker, gives messages without the domain's words. The cost: every new key needs a line
// in two places, its list and its reader.
#include "task_formats/task_toml.h"

#include <fmt/core.h>

#include <cmath>

#include "core/text.h"
#include "core/toml.h"
#include "frontend/names.h"
#include "tensor/inputs.h"

namespace kw::task_formats {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<TaskToml> read(const toml::table& root);

 private:
  Error at(const toml::node& node, const std::string& message) const {
    const auto begin = node.source().begin;
    return input_error("{}:{}:{}: {}", file_, begin.line, begin.column, message);
  }
  Error wrong(const toml::node& node, std::string_view key, const char* want) const {
    return at(node, fmt::format("'{}' must be {}", key, want));
  }

  Status check_keys(const toml::table& table, const std::vector<std::string>& known,
                    const std::string& where) const;
  Status text(const toml::table& table, const char* key, std::string& out) const;
  Status number(const toml::table& table, const char* key, std::optional<double>& out) const;
  Status integer(const toml::table& table, const char* key, std::optional<int64_t>& out) const;
  Status flag(const toml::table& table, const char* key, bool& out) const;
  Result<const toml::table*> table_at(const toml::table& root, const char* key) const;

  Status read_inputs(const toml::table& table, TaskToml& out) const;
  Result<TomlInput> read_input(const std::string& name, const toml::node& node) const;
  Status read_legal(const toml::table& table, TomlInput& input) const;
  Status check_type(const toml::table& table, tensor::DType dtype, const task::Legal& legal) const;
  Status read_scalars(const toml::table& table, TaskToml& out) const;
  Result<task::ScalarSpec> read_scalar(const std::string& name, const toml::node& node) const;
  Status read_dims(const toml::table& table, TaskToml& out) const;
  Status read_shapes(const toml::table& table, const char* key, std::vector<task::Dims>& out) const;
  Status read_precision(const toml::table& table, TaskToml& out) const;
  Status read_names(const toml::table& root, const char* key, std::vector<std::string>& out) const;

  std::string file_;
};

Status Reader::check_keys(const toml::table& table, const std::vector<std::string>& known,
                          const std::string& where) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto begin = key.source().begin;
    return input_error("{}:{}:{}: unknown key '{}' in {}{}; known are: {}", file_, begin.line,
                       begin.column, name, where, did_you_mean(name, known), join(known, ", "));
  }
  return Done{};
}

Status Reader::text(const toml::table& table, const char* key, std::string& out) const {
  const toml::node* node = table.get(key);
  if (!node) return Done{};
  const auto value = node->value<std::string>();
  if (!value) return wrong(*node, key, "a string");
  out = *value;
  return Done{};
}

Status Reader::number(const toml::table& table, const char* key, std::optional<double>& out) const {
  const toml::node* node = table.get(key);
  if (!node) return Done{};
  if (!node->is_number()) return wrong(*node, key, "a number");
  out = node->value<double>();
  return Done{};
}

Status Reader::integer(const toml::table& table, const char* key,
                       std::optional<int64_t>& out) const {
  const toml::node* node = table.get(key);
  if (!node) return Done{};
  if (!node->is_integer()) return wrong(*node, key, "an integer");
  out = node->value<int64_t>();
  return Done{};
}

Status Reader::flag(const toml::table& table, const char* key, bool& out) const {
  const toml::node* node = table.get(key);
  if (!node) return Done{};
  if (!node->is_boolean()) return wrong(*node, key, "true or false");
  out = node->value<bool>().value_or(false);
  return Done{};
}

Result<const toml::table*> Reader::table_at(const toml::table& root, const char* key) const {
  const toml::node* node = root.get(key);
  if (!node) return nullptr;
  if (!node->is_table()) return wrong(*node, key, "a table");
  return node->as_table();
}

Status Reader::read_legal(const toml::table& table, TomlInput& input) const {
  task::Legal& legal = input.tensor.legal;
  KW_TRY(integer(table, "low", legal.low));
  KW_TRY(integer(table, "high", legal.high));
  KW_TRY(text(table, "below", legal.below));
  KW_TRY(number(table, "min", legal.float_low));
  KW_TRY(number(table, "max", legal.float_high));
  KW_TRY(flag(table, "permutation", legal.permutation));
  KW_TRY(flag(table, "positive", legal.positive));
  std::string structure;
  KW_TRY(text(table, "structure", structure));
  if (structure == "upper") legal.structure = task::Structure::Upper;
  if (structure == "lower") legal.structure = task::Structure::Lower;
  if (structure == "symmetric") legal.structure = task::Structure::Symmetric;
  if (!structure.empty() && legal.structure == task::Structure::General && structure != "general")
    return wrong(*table.get("structure"), "structure", "general, upper, lower or symmetric");
  for (const char* key : {"min", "max"}) {
    const auto value = std::string_view(key) == "min" ? legal.float_low : legal.float_high;
    if (value && !std::isfinite(*value)) return wrong(*table.get(key), key, "a finite number");
  }
  const bool empty = (legal.low && legal.high && *legal.low > *legal.high) ||
                     (legal.float_low && legal.float_high && *legal.float_low > *legal.float_high);
  if (empty) return at(table, "no value is legal: the lower bound is above the upper one");
  if (legal.positive && legal.float_high && *legal.float_high <= 0)
    return wrong(*table.get("max"), "max", "above 0 beside positive = true");
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
  KW_TRY(check_keys(*table,
                    {"dtype", "shape", "role", "optional", "written", "low", "high", "below", "min",
                     "max", "permutation", "positive", "structure"},
                    fmt::format("[inputs.{}]", name)));
  std::string dtype, role = "input";
  KW_TRY(text(*table, "dtype", dtype));
  KW_TRY(text(*table, "role", role));
  const toml::array* shape = table->get_as<toml::array>("shape");
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
  if (role != "input" && role != "weight")
    return wrong(*table->get("role"), "role", "\"input\" or \"weight\"");
  input.role = role == "weight" ? task::Role::Weight : task::Role::Input;
  KW_TRY(flag(*table, "optional", input.optional));
  KW_TRY(flag(*table, "written", input.written));
  KW_TRY(read_legal(*table, input));
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
  const toml::node* value = table ? table->get("value") : &node;
  if (table) {
    KW_TRY(check_keys(*table, {"dtype", "value"}, fmt::format("[scalars.{}]", name)));
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
  std::string dtype;
  if (table) KW_TRY(text(*table, "dtype", dtype));
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
    KW_TRY(check_keys(*inner, {"min", "max", "multiple"}, fmt::format("[dims.{}]", name)));
    std::optional<int64_t> low, high, multiple;
    KW_TRY(integer(*inner, "min", low));
    KW_TRY(integer(*inner, "max", high));
    KW_TRY(integer(*inner, "multiple", multiple));
    range.low = low.value_or(range.low);
    range.high = high.value_or(range.high);
    range.multiple = multiple.value_or(range.multiple);
    if (range.low < 0 || range.high < range.low || range.multiple < 1)
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
  KW_TRY(check_keys(table, {"allow_tf32", "flush", "deterministic", "nan", "atol", "rtol"},
                    "[precision]"));
  task::Precision& precision = out.precision;
  KW_TRY(flag(table, "allow_tf32", precision.allow_tf32));
  KW_TRY(flag(table, "flush", precision.flush));
  KW_TRY(flag(table, "deterministic", precision.deterministic));
  KW_TRY(number(table, "atol", precision.atol));
  KW_TRY(number(table, "rtol", precision.rtol));
  out.allow_tf32_given = table.contains("allow_tf32");
  for (const char* key : {"atol", "rtol"}) {
    const auto value = std::string_view(key) == "atol" ? precision.atol : precision.rtol;
    if (value && !(*value >= 0)) return wrong(*table.get(key), key, "0 or more");
  }
  std::string nan = "never";
  KW_TRY(text(table, "nan", nan));
  if (nan != "never" && nan != "propagate")
    return wrong(*table.get("nan"), "nan", "\"never\" or \"propagate\"");
  precision.nan = nan == "never" ? task::NanPolicy::Never : task::NanPolicy::Propagate;
  return Done{};
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
  KW_TRY(check_keys(root,
                    {"name", "reference", "function", "prompt", "outputs", "inputs", "scalars",
                     "dims", "shapes", "precision", "backward", "gradients"},
                    "task.toml"));
  KW_TRY(text(root, "name", out.name));
  KW_TRY(text(root, "reference", out.reference));
  KW_TRY(text(root, "function", out.function));
  KW_TRY(text(root, "prompt", out.prompt));
  KW_TRY(read_names(root, "outputs", out.outputs));
  KW_TRY(flag(root, "backward", out.backward));
  KW_TRY(read_names(root, "gradients", out.gradients));
  if (!out.gradients.empty() && !out.backward)
    return wrong(*root.get("gradients"), "gradients", "beside backward = true");
  const toml::table* inputs = KW_TRY(table_at(root, "inputs"));
  if (inputs) KW_TRY(read_inputs(*inputs, out));
  const toml::table* scalars = KW_TRY(table_at(root, "scalars"));
  if (scalars) KW_TRY(read_scalars(*scalars, out));
  const toml::table* dims = KW_TRY(table_at(root, "dims"));
  if (dims) KW_TRY(read_dims(*dims, out));
  const toml::table* shapes = KW_TRY(table_at(root, "shapes"));
  if (shapes) {
    KW_TRY(check_keys(*shapes, {"correctness", "benchmark"}, "[shapes]"));
    KW_TRY(read_shapes(*shapes, "correctness", out.correctness));
    KW_TRY(read_shapes(*shapes, "benchmark", out.benchmark));
  }
  const toml::table* precision = KW_TRY(table_at(root, "precision"));
  if (precision) KW_TRY(read_precision(*precision, out));
  return out;
}

}  // namespace

Result<TaskToml> parse_task_toml(const std::string& text, const std::string& file_name) {
  const toml::parse_result parsed = toml::parse(text, file_name);
  if (!parsed) {
    const auto begin = parsed.error().source().begin;
    return input_error("{}:{}:{}: {}", file_name, begin.line, begin.column,
                       std::string(parsed.error().description()));
  }
  return Reader(file_name).read(parsed.table());
}

}  // namespace kw::task_formats
