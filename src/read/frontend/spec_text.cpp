// Shapes are written by users in three places (annotations, --input, task.toml) and in two
// notations. All use one parser of extents: the grammar of kernel modules. So a shape means the
// same in a task and in a kernel. An extent is kept as text and evaluated at each shape of the
// task, as a Dim that keeps its symbols. The alternative, to store expressions, would need a second
// form of the task. Named axes with a star (jaxtyping's "*batch") are not supported.
#include "frontend/spec_text.h"

#include <map>

#include "core/text.h"
#include "frontend/names.h"
#include "kernel/cursor.h"
#include "kernel/expr.h"
#include "kernel/parse_expr.h"

namespace kw::frontend {
namespace {

using graph::Dim;

std::string form_hint() { return "write it like fp16[B, D]: a dtype and extents"; }

Result<kernel::Expr> parse_extent(const std::string& text) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  kernel::Cursor cursor(text, 0, 0, text.size(), diagnostics);
  auto expr = kernel::parse_expression(cursor);
  if (expr && cursor.at_end()) return std::move(*expr);
  const std::string why = diagnostics.empty() ? "" : ": " + diagnostics[0].message;
  constexpr size_t kShown = 60;
  const std::string shown = text.size() <= kShown ? text : text.substr(0, kShown) + "…";
  return input_error("'{}' is not an extent{}", shown, why);
}

/// Pieces between commas that are not inside parentheses.
std::vector<std::string> split_extents(std::string_view text) {
  std::vector<std::string> pieces;
  std::string piece;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      pieces.emplace_back(trim(piece));
      piece.clear();
    } else {
      piece += c;
    }
  }
  pieces.emplace_back(trim(piece));
  // Python's floor division; the grammar of kernel modules writes it with one sign.
  for (std::string& one : pieces) one = replace_all(one, "//", "/");
  return pieces;
}

Result<Dim> combine(const kernel::ExprNode& node, const std::vector<Dim>& values) {
  const Dim& a = values[static_cast<size_t>(node.children[0])];
  if (node.op == kernel::ExprOp::Negate) return Dim(0) - a;
  if (node.children.size() < 2)
    return input_error("an extent may use only + - * / % ceil_div min max");
  const Dim& b = values[static_cast<size_t>(node.children[1])];
  switch (node.op) {
    case kernel::ExprOp::Add:
      return a + b;
    case kernel::ExprOp::Subtract:
      return a - b;
    case kernel::ExprOp::Multiply:
      return a * b;
    case kernel::ExprOp::Min:
      return min(a, b);
    case kernel::ExprOp::Max:
      return max(a, b);
    case kernel::ExprOp::Divide:
    case kernel::ExprOp::Remainder:
    case kernel::ExprOp::CeilDiv:
      if (b.value() <= 0) return input_error("division by an extent that is not positive");
      if (node.op == kernel::ExprOp::CeilDiv) return floor_div(a + b - 1, b);
      return node.op == kernel::ExprOp::Divide ? floor_div(a, b) : remainder(a, b);
    default:
      return input_error("an extent may use only + - * / % ceil_div min max");
  }
}

}  // namespace

std::optional<tensor::DType> dtype_from_text(std::string_view name) {
  if (const auto own = tensor::dtype_from_name(name)) return own;
  const auto constant = library_constant("torch." + std::string(name));
  if (!constant || !constant->get<DTypeValue>()) return std::nullopt;
  return constant->get<DTypeValue>()->dtype;
}

Result<TensorText> parse_tensor_text(std::string_view text) {
  const std::string_view whole = trim(text);
  const size_t open = whole.find('[');
  if (open == std::string_view::npos || !whole.ends_with("]"))
    return input_error("'{}' is not a tensor: {}", whole, form_hint());
  const std::string_view name = trim(whole.substr(0, open));
  const auto dtype = dtype_from_text(name);
  if (!dtype)
    return input_error("unknown dtype '{}'{}", name, did_you_mean(name, tensor::dtype_names()));
  TensorText result;
  result.dtype = *dtype;
  const std::string_view inside = trim(whole.substr(open + 1, whole.size() - open - 2));
  if (inside.empty()) return result;
  for (std::string& piece : split_extents(inside)) {
    const kernel::Expr expr = KW_TRY(parse_extent(piece));
    for (const kernel::ExprNode& node : expr.nodes) {
      if (node.op == kernel::ExprOp::Name && !is_dim_name(node.name))
        return input_error("'{}' cannot be the name of a dim", node.name);
    }
    result.shape.push_back(std::move(piece));
  }
  return result;
}

Result<Dim> extent(const std::string& text, const task::Dims& dims) {
  const kernel::Expr expr = KW_TRY(parse_extent(text));
  std::vector<Dim> values;
  for (const kernel::ExprNode& node : expr.nodes) {
    if (node.op == kernel::ExprOp::Number) {
      values.emplace_back(node.value);
    } else if (node.op == kernel::ExprOp::Name) {
      const auto found = dims.find(node.name);
      if (found == dims.end())
        return input_error("no value for dim {}; pass --dims {}=…", node.name, node.name);
      values.push_back(Dim::symbol(node.name, found->second));
    } else if (node.children.empty()) {
      return input_error("'{}' is not an extent", text);
    } else {
      values.push_back(KW_TRY(combine(node, values)));
    }
  }
  const Dim result = values.back();
  if (result.value() < 0 || result.value() > int64_t{1} << 40)
    return input_error("extent '{}' is {} ({}), outside 0 … 2^40", text, result.value(),
                       task::dims_text(dims));
  return result;
}

Result<graph::Shape> shape_at(const std::vector<std::string>& shape, const task::Dims& dims) {
  graph::Shape result;
  for (const std::string& text : shape) result.push_back(KW_TRY(extent(text, dims)));
  return result;
}

std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  const auto expr = parse_extent(text);
  if (!expr) return names;
  for (const kernel::ExprNode& node : expr->nodes) {
    if (node.op == kernel::ExprOp::Name) names.insert(node.name);
  }
  return names;
}

namespace {

/// The last part of a name or attribute: "torch.Tensor" -> "Tensor".
std::string last_name(const Json& node) {
  return node["_"].as_string() == "Attribute" ? node["attr"].as_string() : node["id"].as_string();
}

std::optional<tensor::DType> jaxtyping_dtype(const std::string& name) {
  using tensor::DType;
  static const std::map<std::string, DType> kTypes = {
      {"Float", DType::Fp32},    {"Float32", DType::Fp32}, {"Float16", DType::Fp16},
      {"BFloat16", DType::Bf16}, {"Float64", DType::Fp64}, {"Int", DType::Int64},
      {"Int64", DType::Int64},   {"Int32", DType::Int32},  {"Int16", DType::Int16},
      {"Int8", DType::Int8},     {"UInt8", DType::Uint8},  {"Bool", DType::Bool}};
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

Result<Annotation> parse_jaxtyping(tensor::DType dtype, const std::string& dims) {
  Annotation result;
  result.kind = Annotation::Kind::Tensor;
  result.tensor.dtype = dtype;
  for (const std::string& token : split(dims, ' ')) {
    if (token.empty()) continue;
    const auto expr = parse_extent(token);
    if (!expr)
      return input_error(
          "extent '{}' of the annotation is not supported: names, ints and expressions of them are",
          token);
    result.tensor.shape.push_back(token);
  }
  return result;
}

Result<Annotation> parse_generic(const Json& node) {
  const std::string name = last_name(node["value"]);
  const Json::Array& items = node["slice"]["elts"].items();
  const std::string text = items.size() == 2 ? items[1]["value"].as_string() : "";
  const auto dtype = jaxtyping_dtype(name);
  const bool is_text = items.size() == 2 && items[1]["type"].as_string() == "str";
  if (dtype && is_text) return parse_jaxtyping(*dtype, text);
  if (name == "Annotated" && is_text) {
    Annotation result;
    result.kind = Annotation::Kind::Tensor;
    result.tensor = KW_TRY(parse_tensor_text(text));
    return result;
  }
  if (name == "Optional") return parse_annotation(node["slice"]);
  return Annotation{};
}

}  // namespace

Result<Annotation> parse_annotation(const Json& node) {
  const std::string& kind = node["_"].as_string();
  Annotation result;
  if (kind == "Subscript") return parse_generic(node);
  if (kind == "Constant" && node["type"].as_string() == "str") {
    const std::string& text = node["value"].as_string();
    if (text.find('[') == std::string::npos) return result;
    result.kind = Annotation::Kind::Tensor;
    result.tensor = KW_TRY(parse_tensor_text(text));
    return result;
  }
  const std::string name = kind == "Name" ? node["id"].as_string() : "";
  if (name == "int") result.kind = Annotation::Kind::Int;
  if (name == "float") result.kind = Annotation::Kind::Float;
  if (name == "bool") result.kind = Annotation::Kind::Bool;
  return result;
}

}  // namespace kw::frontend
