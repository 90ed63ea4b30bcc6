// Tensors in the tracer: calls of op rows, results that alias their inputs, in-place updates,
// attributes. Rows only make new nodes and do not know Python, which keeps over 20 tables simple.
// So this file adds the rest: `out=` and `inplace=`, a cell for each result, limits on size. The
// alternative, in-place variants of each row, would double the tables. While a module is
// constructed, writes to a parameter are only recorded (note_fill), not computed. Methods that need
// values, such as item(), are refused unless the value is known before the run.
#include "frontend/tensors.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "frontend/builtins.h"
#include "frontend/call.h"
#include "frontend/cell.h"
#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/known.h"
#include "frontend/library_rows.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/subscript.h"
#include "graph/compose_reduce.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::Node;
using graph::NodeId;

std::string short_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

bool is_in_place_name(const std::string& name) {
  return name.ends_with("_") && !name.ends_with("__") && name.size() > 1;
}

const Tensor* first_tensor(const Arguments& arguments) {
  if (!arguments.positional.empty()) return arguments.positional[0].get<Tensor>();
  for (const auto& [keyword, value] : arguments.keywords) {
    if (keyword == "input") return value.get<Tensor>();
  }
  return nullptr;
}

/// An argument by position or by name; None when it is missing.
Value argument(const Arguments& arguments, size_t place, std::string_view name) {
  for (const auto& [keyword, value] : arguments.keywords) {
    if (keyword == name) return value;
  }
  return place < arguments.positional.size() ? arguments.positional[place] : Value();
}

Value shape_value(const graph::Shape& shape) {
  std::vector<Value> extents(shape.begin(), shape.end());
  return make_tuple(std::move(extents));
}

}  // namespace

Result<NodeId> node_of(TraceState& trace, const Tensor& tensor) {
  return read(trace.graph, tensor);
}

bool is_parameter(const TraceState& trace, const Tensor& tensor) {
  const NodeId node = tensor.cell ? tensor.cell->node : tensor.node;
  return std::any_of(trace.parameters.begin(), trace.parameters.end(),
                     [&](const Drawn& one) { return one.node == node; });
}

void note_fill(TraceState& trace, const Tensor& parameter, std::optional<double> number) {
  const NodeId node = parameter.cell ? parameter.cell->node : parameter.node;
  for (Drawn& one : trace.parameters) {
    if (one.node == node) one.filled = number;
  }
}

std::optional<double> number_throughout(const TraceState& trace, NodeId id) {
  const Node& node = trace.graph[id];
  switch (node.op) {
    case graph::Op::Constant:
      return tensor::is_float(node.dtype) ? node.attrs.number
                                          : static_cast<double>(node.attrs.integer);
    case graph::Op::Reshape:
    case graph::Op::Expand:
    case graph::Op::Cast:
      return number_throughout(trace, node.inputs[0]);
    case graph::Op::Mul:
    case graph::Op::Add: {
      const auto x = number_throughout(trace, node.inputs[0]),
                 z = number_throughout(trace, node.inputs[1]);
      if (!x || !z) return std::nullopt;
      return node.op == graph::Op::Mul ? *x * *z : *x + *z;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> number_given(TraceState& trace, const Value& value) {
  if (const auto* number = value.get<Float>()) return *number;
  if (const auto dim = as_dim(value)) return static_cast<double>(dim->value());
  const auto* tensor = value.get<Tensor>();
  const auto node = tensor ? node_of(trace, *tensor) : Result<NodeId>(input_error("no tensor"));
  return node ? number_throughout(trace, *node) : std::nullopt;
}

Result<std::optional<Value>> constant_of(TraceState& trace, const Tensor& tensor) {
  NodeId id = KW_TRY(node_of(trace, tensor));
  if (count_of(trace.graph[id].shape).value() != 1) return std::optional<Value>();
  while (trace.graph[id].op == graph::Op::Reshape || trace.graph[id].op == graph::Op::Expand)
    id = trace.graph[id].inputs[0];
  const Node& node = trace.graph[id];
  if (node.op != graph::Op::Constant) {
    const auto known =
        tensor::is_float(node.dtype) && count_of(node.shape).value() == 1
            ? known_element(trace.graph, id, std::vector<int64_t>(node.shape.size(), 0))
            : std::nullopt;
    return known ? std::optional(Value(*known)) : std::optional<Value>();
  }
  if (!node.attrs.number_text.empty()) return std::optional<Value>();
  if (tensor::is_float(node.dtype)) return std::optional(Value(node.attrs.number));
  if (node.dtype == tensor::DType::Bool) return std::optional(Value(node.attrs.integer != 0));
  return std::optional(Value(Dim(node.attrs.integer)));
}

Status check_size(TraceState& trace, const Value& result) {
  if (const std::vector<Value>* items = items_of(result)) {
    for (const Value& item : *items) KW_TRY(check_size(trace, item));
    return Done{};
  }
  const auto* tensor = result.get<Tensor>();
  if (!tensor) return Done{};
  const Node& node = trace.graph[tensor->node];
  double bytes = tensor::dtype_size(node.dtype);
  for (const Dim& extent : node.shape) bytes *= static_cast<double>(extent.value());
  if (bytes > kMaxTensorBytes)
    return input_error("a {} tensor of shape {} needs {:.1f} GiB; at most {:.0f} GiB are accepted",
                       tensor::dtype_name(node.dtype), shape_text(node.shape), bytes / 1073741824.0,
                       kMaxTensorBytes / 1073741824.0);
  if (tensor->node > static_cast<NodeId>(kMaxNodes)) {
    trace.fatal = true;
    return input_error(
        "the reference unrolls to more than {} operations\nuse tensor operations instead of long "
        "loops",
        kMaxNodes);
  }
  return Done{};
}

namespace {

// Gives every tensor of a result a cell: its own, or one that shares the first argument's memory.
Value adopt(TraceState& trace, const std::string& name, const Arguments& arguments,
            const Value& result) {
  if (const std::vector<Value>* items = items_of(result)) {
    std::vector<Value> adopted;
    for (const Value& item : *items) adopted.push_back(adopt(trace, name, arguments, item));
    const auto* tuple = result.get<std::shared_ptr<Tuple>>();
    return tuple ? make_named_tuple(std::move(adopted), (*tuple)->fields)
                 : make_list(std::move(adopted));
  }
  const auto* tensor = result.get<Tensor>();
  if (!tensor) return result;
  const auto sharing = sharing_of(name);
  const Tensor* base = first_tensor(arguments);
  if (sharing && base && base->cell) return view_of(trace.graph, *base, tensor->node, *sharing);
  return new_tensor(tensor->node);
}

Result<Value> detached(TraceState& trace, const Value& result) {
  if (const std::vector<Value>* items = items_of(result)) {
    std::vector<Value> all;
    for (const Value& item : *items) all.push_back(KW_TRY(detached(trace, item)));
    const auto* tuple = result.get<std::shared_ptr<Tuple>>();
    return tuple ? make_named_tuple(std::move(all), (*tuple)->fields) : make_list(std::move(all));
  }
  const auto* tensor = result.get<Tensor>();
  if (!tensor) return result;
  return Value(Tensor(KW_TRY(graph::detach(trace.graph, tensor->node))));
}

// In training, batch norm updates its running statistics, and later reads see the new values.
Status update_statistics(TraceState& trace, Call& call, size_t place, const Arguments& arguments) {
  const bool training = KW_TRY(call.boolean("training"));
  if (!training || call["momentum"].is_none()) return Done{};
  const double momentum = KW_TRY(call.number("momentum"));
  const NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims;
  for (int dim = 0; dim < trace.graph.rank(x); ++dim) {
    if (dim != 1) dims.push_back(dim);
  }
  for (const char* name : {"running_mean", "running_var"}) {
    const Value given = argument(arguments, place++, name);
    const auto* target = given.get<Tensor>();
    if (!target || !target->cell) continue;
    const bool mean = std::string_view(name) == "running_mean";
    const NodeId now = KW_TRY(mean ? graph::mean(trace.graph, x, dims, false)
                                   : graph::var(trace.graph, x, dims, 1, false));
    const NodeId old = KW_TRY(node_of(trace, *target));
    const NodeId kept = KW_TRY(trace.graph.binary(graph::Op::Mul, graph::Operand::tensor(old),
                                                  graph::Operand::of(1 - momentum)));
    const NodeId added = KW_TRY(trace.graph.binary(graph::Op::Mul, graph::Operand::tensor(now),
                                                   graph::Operand::of(momentum)));
    const NodeId both = KW_TRY(trace.graph.binary(graph::Op::Add, graph::Operand::tensor(kept),
                                                  graph::Operand::tensor(added)));
    KW_TRY(store(trace, *target, both, true));
  }
  return Done{};
}

}  // namespace

// In training, batch_norm also updates the running statistics, which is not part of the result.
void note_running(TraceState& trace, const std::string& name, const Arguments& arguments) {
  const bool batch = name.ends_with(".batch_norm");
  if (!batch && !name.ends_with(".instance_norm")) return;
  const auto given = [&](const char* key, size_t place) {
    for (const auto& [keyword, value] : arguments.keywords) {
      if (keyword == key) return value;
    }
    return place < arguments.positional.size() ? arguments.positional[place] : Value();
  };
  const Value training = given(batch ? "training" : "use_input_stats", 5);
  const bool* flag = training.get<bool>();
  if (flag ? !*flag : batch) return;
  for (const auto& value : {given("running_mean", 1), given("running_var", 2)}) {
    if (const auto* tensor = value.get<Tensor>()) trace.running.push_back(*tensor);
  }
}

Result<Value> call_row(TraceState& trace, const std::string& name, Arguments arguments) {
  note_running(trace, name, arguments);
  const OpRow* row = find_op(name);
  if (!row) return input_error(unknown_function(name));
  const std::optional<Value> out = take_keyword(arguments, "out");
  const std::optional<Value> in_place = take_keyword(arguments, "inplace");
  bool writes = is_in_place_name(name);
  if (in_place) writes = KW_TRY(truth_of(trace, *in_place)) || writes;
  Call call = KW_TRY(
      Call::bind(trace.graph, name, row->signature, arguments.positional, arguments.keywords));
  Value result = KW_TRY(apply_row(trace, *row, call));
  KW_TRY(check_size(trace, result));
  if (trace.no_gradient && !writes) result = KW_TRY(detached(trace, result));
  if (name == "F.batch_norm" || name == "torch.batch_norm")
    KW_TRY(update_statistics(trace, call, name == "F.batch_norm" ? 1 : 3, arguments));
  const bool copies = name == "F.unfold";  // the method of this name is a view
  const Value adopted = adopt(trace, copies ? "" : short_name(name), arguments, result);
  const Tensor* target = writes ? first_tensor(arguments) : nullptr;
  if (out && !out->is_none()) target = out->get<Tensor>();
  if (!target && !(out && !out->is_none())) return adopted;
  const auto* tensor = adopted.get<Tensor>();
  if (!target || !tensor) return input_error("{}(): only one tensor can be written in place", name);
  const NodeId node = KW_TRY(node_of(trace, *tensor));
  KW_TRY(store(trace, *target, node, false));
  return Value(*target);
}

Status store(TraceState& trace, const Tensor& target, NodeId value, bool convert) {
  if (is_parameter(trace, target) && trace.randomness == Randomness::Weight) {
    note_fill(trace, target, number_throughout(trace, value));
    return Done{};
  }
  const NodeId old = KW_TRY(node_of(trace, target));
  const tensor::DType dtype = trace.graph[old].dtype;
  if (values_of(trace.graph[old].shape) != values_of(trace.graph[value].shape))
    return input_error("output with shape {} doesn't match the broadcast shape {}",
                       shape_text(trace.graph[old].shape), shape_text(trace.graph[value].shape));
  const bool loses = tensor::is_float(trace.graph[value].dtype) && !tensor::is_float(dtype);
  if (loses && !convert)
    return input_error("result type {} can't be cast to the desired output type {}",
                       tensor::dtype_name(trace.graph[value].dtype), tensor::dtype_name(dtype));
  return write(trace.graph, target, trace.graph.cast(value, dtype));
}

namespace {

Result<Value> call_in_place(TraceState& trace, const Tensor& self, const std::string& name,
                            Arguments arguments) {
  if (is_parameter(trace, self) && trace.randomness == Randomness::Weight) {
    const bool one = (name == "fill_" || name == "copy_") && !arguments.positional.empty();
    note_fill(trace, self,
              name == "zero_" ? 0
              : one           ? number_given(trace, arguments.positional[0])
                              : std::nullopt);
    return Value(self);
  }
  static const std::set<std::string_view> kShapeChanging = {
      "unsqueeze_", "squeeze_", "t_", "transpose_", "resize_", "swapaxes_", "set_", "resize_as_"};
  if (kShapeChanging.count(name))
    return input_error("Tensor.{} is not supported\nx = x.{}(...) is, {}", name,
                       name.substr(0, name.size() - 1), kWayOut);
  if (name != "copy_" && name != "fill_" && name != "zero_") {
    arguments.positional.insert(arguments.positional.begin(), Value(self));
    return call_row(trace, "Tensor." + name, std::move(arguments));
  }
  Value source = Dim(0);
  if (name != "zero_") {
    if (arguments.positional.empty()) return input_error("{}() missing required argument", name);
    source = arguments.positional[0];
  }
  KW_TRY(assign_item(trace.graph, self, Value(Ellipsis{}), source));
  return Value(self);
}

const std::map<std::string, bool>& refused_methods() {
  // true: the method needs values; false: another reason
  static const std::map<std::string, bool> kMethods = {
      {"item", true},      {"tolist", true},        {"numpy", true},     {"nonzero", true},
      {"unique", true},    {"masked_select", true}, {"backward", false}, {"data_ptr", false},
      {"__array__", true}, {"map_", false},         {"apply_", false}};
  return kMethods;
}

bool is_plain_method(const std::string& name) {
  static constexpr std::string_view kNames =
      "size dim ndimension numel nelement is_contiguous is_floating_point is_complex is_signed "
      "element_size stride get_device requires_grad_ retain_grad register_hook cuda cpu "
      "pin_memory detach_ share_memory_ storage_offset copy_ fill_ zero_ __len__";
  return has_word(kNames, name);
}

Result<Value> strides_value(const graph::Shape& shape) {
  std::vector<Value> strides;
  Dim stride(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides.insert(strides.begin(), Value(stride));
    stride = stride * shape[i];
  }
  return make_tuple(std::move(strides));
}

/// The item at an optional dim argument, as in x.size(0) and x.stride(-1); all items without it.
Result<Value> pick(graph::Builder& graph, const Value& all, const Arguments& arguments) {
  const Value* dim = arguments.positional.empty() ? nullptr : &arguments.positional[0];
  for (const auto& [keyword, value] : arguments.keywords) {
    if (keyword == "dim") dim = &value;
  }
  return dim && !dim->is_none() ? container_item(graph, all, *dim) : Result<Value>(all);
}

Result<Value> plain_method(TraceState& trace, const Tensor& self, const std::string& name,
                           const Arguments& arguments) {
  const NodeId id = KW_TRY(node_of(trace, self));
  const graph::Shape shape = trace.graph[id].shape;
  const tensor::DType dtype = trace.graph[id].dtype;
  if (name == "size") return pick(trace.graph, shape_value(shape), arguments);
  if (name == "stride") {
    if (!is_contiguous(trace.graph, self))
      return input_error("stride() of a view that is not contiguous is not supported");
    const Value strides = KW_TRY(strides_value(shape));
    return pick(trace.graph, strides, arguments);
  }
  if (name == "dim" || name == "ndimension") return Value(Dim(static_cast<int64_t>(shape.size())));
  if (name == "numel" || name == "nelement") return Value(count_of(shape));
  if (name == "is_contiguous") return Value(is_contiguous(trace.graph, self));
  if (name == "is_floating_point") return Value(tensor::is_float(dtype));
  if (name == "is_signed") return Value(!tensor::is_unsigned_int(dtype));
  if (name == "is_complex") return Value(false);
  if (name == "element_size") return Value(Dim(tensor::dtype_size(dtype)));
  if (name == "get_device" || name == "storage_offset") return Value(Dim(0));
  if (name == "__len__") return builtin_length(trace, Value(self));
  return Value(self);  // cuda, cpu, requires_grad_, …: no effect on values
}

}  // namespace

Result<Value> call_tensor_method(TraceState& trace, const Tensor& self, const std::string& name,
                                 Arguments arguments) {
  const auto refused = refused_methods().find(name);
  if (refused != refused_methods().end()) {
    const std::optional<Value> constant = KW_TRY(constant_of(trace, self));
    if (name == "item" && constant) return *constant;
    if (name == "backward") return input_error(own_task("Tensor.backward"));
    return input_error(refused->second
                           ? value_decides(fmt::format("Tensor.{}()", name))
                           : fmt::format("Tensor.{}() is not supported in a reference", name));
  }
  if (is_random("Tensor." + name)) {
    if (is_parameter(trace, self) && trace.randomness == Randomness::Weight) {
      note_fill(trace, self, std::nullopt);
      return Value(self);
    }
    arguments.positional.insert(arguments.positional.begin(), Value(self));
    return random_tensor(trace, "Tensor." + name, std::move(arguments));
  }
  const bool assigns = name == "copy_" || name == "fill_" || name == "zero_";
  if (is_plain_method(name) && !assigns) return plain_method(trace, self, name, arguments);
  if (is_in_place_name(name)) return call_in_place(trace, self, name, std::move(arguments));
  arguments.positional.insert(arguments.positional.begin(), Value(self));
  return call_row(trace, "Tensor." + name, std::move(arguments));
}

Result<std::optional<Value>> tensor_attribute(TraceState& trace, const Tensor& tensor,
                                              const std::string& name) {
  const NodeId id = KW_TRY(node_of(trace, tensor));
  const int rank = trace.graph.rank(id);
  if (name == "shape") return std::optional(shape_value(trace.graph[id].shape));
  if (name == "dtype") return std::optional(Value(DTypeValue{trace.graph[id].dtype}));
  if (name == "ndim") return std::optional(Value(Dim(rank)));
  if (name == "device") return std::optional(Value(std::string("cuda")));
  if (name == "is_cuda") return std::optional(Value(true));
  if (name == "requires_grad" || name == "is_sparse" || name == "is_quantized" ||
      name == "is_meta" || name == "is_nested")
    return std::optional(Value(false));
  if (name == "is_leaf") return std::optional(Value(true));
  if (name == "grad" || name == "grad_fn") return std::optional(Value());
  if (name == "layout") return std::optional(Value(std::string("strided")));
  if (name == "data" || name == "real") return std::optional(Value(tensor));
  if (name == "itemsize")
    return std::optional(Value(Dim(tensor::dtype_size(trace.graph[id].dtype))));
  if (name == "nbytes")
    return std::optional(
        Value(count_of(trace.graph[id].shape) * Dim(tensor::dtype_size(trace.graph[id].dtype))));
  if (name == "T" || name == "mT" || name == "H" || name == "mH") {
    if (rank < 2 && name != "T")
      return input_error("tensor.{} needs at least 2 dimensions, it has {}", name, rank);
    std::vector<int> order;
    for (int i = 0; i < rank; ++i) order.push_back(name == "T" ? rank - 1 - i : i);
    if (name != "T") std::swap(order[order.size() - 1], order[order.size() - 2]);
    const NodeId node = KW_TRY(trace.graph.permute(id, order));
    return std::optional(Value(view_of(trace.graph, tensor, node, Sharing::View)));
  }
  const bool known = is_plain_method(name) || refused_methods().count(name) ||
                     is_random("Tensor." + name) || find_op("Tensor." + name);
  if (!known) return std::optional<Value>();
  return std::optional(Value(std::make_shared<BoundMethod>(BoundMethod{tensor, name, nullptr})));
}

}  // namespace kw::frontend
