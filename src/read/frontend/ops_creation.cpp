// Tensors made from numbers alone. Shapes keep their symbols, so zeros(B, D) follows the task's
// dims. A constant tensor is one node that is expanded, not stored elements; arange and linspace
// are formulas over an index. The alternative, host tensors in the graph, would fix their size.
// torch.tensor([...]) needs one node per number, so it has at most kMaxLiterals numbers.
// torch.empty gives zeros, because a truth needs defined values. Random tensors are not rows
// (random_tensors.cpp).
#include <cmath>

#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using graph::Shape;
using tensor::DType;

constexpr int64_t kMaxLiterals = 65536;  // the most numbers in one torch.tensor([...])

Status check_sizes(const Call& call, const Shape& shape) {
  for (const Dim& extent : shape) {
    if (extent.value() < 0) {
      return input_error("{}(): Trying to create tensor with negative dimension {}: {}",
                         call.function(), extent.value(), graph::shape_text(shape));
    }
  }
  return Done{};
}

Result<Value> fill(Call& call, Shape shape, DType dtype, const Operand& number) {
  KW_TRY(check_sizes(call, shape));
  return tensor_value(KW_TRY(filled(call.graph(), std::move(shape), dtype, number)));
}

template <int number>
Result<Value> of_size(Call& call) {
  Shape shape = KW_TRY(call.sizes("size"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return fill(call, std::move(shape), dtype.value_or(DType::Fp32), Operand::of(int64_t{number}));
}

template <int number>
Result<Value> like(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  const graph::Node& node = call.graph()[x];
  return fill(call, node.shape, dtype.value_or(node.dtype), Operand::of(int64_t{number}));
}

template <int number>
Result<Value> new_of_size(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape shape = KW_TRY(call.sizes("size"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return fill(call, std::move(shape), dtype.value_or(call.graph()[x].dtype),
              Operand::of(int64_t{number}));
}

DType dtype_of_number(const Operand& number) {
  if (number.kind == Operand::Kind::Bool) return DType::Bool;
  return number.kind == Operand::Kind::Int ? DType::Int64 : DType::Fp32;
}

// Fills with a number, or with a tensor of one element.
Result<Value> fill_with(Call& call, Shape shape, std::optional<DType> dtype) {
  Operand value = KW_TRY(call.operand("fill_value"));
  if (value.kind != Operand::Kind::Tensor) {
    return fill(call, std::move(shape), dtype.value_or(dtype_of_number(value)), value);
  }
  KW_TRY(check_sizes(call, shape));
  graph::Builder& g = call.graph();
  if (graph::count_of(g[value.node].shape).value() != 1) {
    return input_error(
        "{}(): argument 'fill_value' must be a number or a tensor of one element, not of shape {}",
        call.function(), graph::shape_text(g[value.node].shape));
  }
  NodeId scalar = KW_TRY(g.reshape(value.node, {}));
  if (dtype) scalar = g.cast(scalar, *dtype);
  return tensor_value(KW_TRY(g.expand(scalar, std::move(shape))));
}

Result<Value> full(Call& call) {
  Shape shape = KW_TRY(call.sizes("size"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return fill_with(call, std::move(shape), dtype);
}

Result<Value> full_like(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return fill_with(call, call.graph()[x].shape, dtype.value_or(call.graph()[x].dtype));
}

Result<Value> new_full(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape shape = KW_TRY(call.sizes("size"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  return fill_with(call, std::move(shape), dtype.value_or(call.graph()[x].dtype));
}

struct Range {
  Value start = Dim(0), end, step = Dim(1);
};

Result<Range> range_of(Call& call) {
  const std::vector<Value>& items = *items_of(call["range"]);
  Range range;
  if (items.size() > 3) return input_error("arange() takes at most 3 numbers");
  if (items.size() == 1) range.end = items[0];
  if (items.size() >= 2) {
    range.start = items[0];
    range.end = items[1];
  }
  if (items.size() == 3) range.step = items[2];
  if (call.given("start")) range.start = call["start"];
  if (call.given("end")) range.end = call["end"];
  if (call.given("step")) range.step = call["step"];
  for (Value* value : {&range.start, &range.end, &range.step}) {
    if (const auto* number = value->get<Float>(); number && number->is_int())
      *value = Value(*as_dim(*value));
    if (!value->get<Dim>() && !value->get<Float>()) {
      return input_error("arange(): its bounds must be numbers known before the run, not {}",
                         value->is_none() ? "missing" : type_name(*value));
    }
  }
  return range;
}

double plain_number(const Value& value) {
  if (const auto* dim = value.get<Dim>()) return static_cast<double>(dim->value());
  return *value.get<Float>();
}

Operand as_operand(const Value& value) {
  if (const auto* dim = value.get<Dim>()) return Operand::of(*dim);
  return Operand::of(value.get<Float>()->number());
}

// The number of elements. If all bounds are ints, it keeps their symbols.
Dim range_count(const Range& range) {
  const auto* start = range.start.get<Dim>();
  const auto* end = range.end.get<Dim>();
  const auto* step = range.step.get<Dim>();
  if (!start || !end || !step) {
    double span = (plain_number(range.end) - plain_number(range.start)) / plain_number(range.step);
    return Dim(static_cast<int64_t>(std::ceil(span)));
  }
  const int64_t by = step->value();
  if (by == 1) return *end - *start;
  return by > 0 ? floor_div(*end - *start + Dim(by - 1), Dim(by))
                : floor_div(*start - *end + Dim(-by - 1), Dim(-by));
}

Result<Value> arange(Call& call) {
  Range range = KW_TRY(range_of(call));
  std::optional<DType> given = KW_TRY(call.dtype("dtype"));
  double start = plain_number(range.start), end = plain_number(range.end),
         step = plain_number(range.step);
  if (step == 0) return input_error("step must be nonzero");
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step)) {
    return input_error("unsupported range: {} -> {}", start, end);
  }
  if ((end - start) / step < 0) {
    return input_error("upper bound and lower bound inconsistent with step sign");
  }
  if ((end - start) / step > 1e15) return input_error("arange(): too many elements");
  bool whole = range.start.get<Dim>() && range.end.get<Dim>() && range.step.get<Dim>();
  DType dtype = given.value_or(whole ? DType::Int64 : DType::Fp32);
  DType work = whole && dtype != DType::Fp64 ? DType::Int64 : graph::opmath(dtype);
  Formula f(call);
  Term x = f.node(call.graph().iota({range_count(range)}, 0, work));
  if (step != 1) x = x * Term(as_operand(range.step));
  if (start != 0) x = x + Term(as_operand(range.start));
  return f.result(x, dtype);
}

// Computed from both ends towards the middle, as in PyTorch: the last element is exactly `end`.
Result<Value> linspace_of(Call& call, std::optional<double> base) {
  const Value start = KW_TRY(call.number_value("start")), end = KW_TRY(call.number_value("end"));
  const Dim steps = KW_TRY(call.dim_value("steps"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  if (steps.value() < 0) return input_error("number of steps must be non-negative");
  DType type = dtype.value_or(DType::Fp32);
  DType work = is_integral(type) ? DType::Fp64 : graph::opmath(type);
  Value step = 0.0;
  if (!at_most(call.graph(), steps, Dim(1))) {
    const Value span = KW_TRY(arithmetic(call.graph(), "Sub", end, start));
    step = KW_TRY(arithmetic(call.graph(), "Div", span, Value(steps - 1)));
  }
  Formula f(call);
  const Term by = as_operand(step), first = as_operand(start), last = as_operand(end);
  Term i = f.node(call.graph().iota({steps}, 0, work));
  Term up = i * by + first;
  Term down = last - (Term(steps - 1) - i) * by;
  Term line = where(i < Term(floor_div(steps, Dim(2))), up, down);
  if (steps.value() == 1) line = up;
  if (base) line = pow(*base, line);
  return f.result(line, type);
}

Result<Value> linspace(Call& call) { return linspace_of(call, std::nullopt); }

Result<Value> logspace(Call& call) {
  double base = KW_TRY(call.number("base"));
  return linspace_of(call, base);
}

Result<Value> eye(Call& call) {
  const Dim n = KW_TRY(call.dim_value("n"));
  const Dim m = call.given("m") ? KW_TRY(call.dim_value("m")) : n;
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  const Shape shape{n, m};
  KW_TRY(check_sizes(call, shape));
  Formula f(call);
  Term rows = f.node(call.graph().iota(shape, 0, DType::Int64));
  Term columns = f.node(call.graph().iota(shape, 1, DType::Int64));
  return f.result(rows == columns, dtype.value_or(DType::Fp32));
}

// The numbers of nested lists in order, and the shape of the nesting.
struct Literals {
  Shape shape;
  std::vector<Operand> numbers;
};

Result<Operand> literal_of(const Value& value) {
  if (const auto* flag = value.get<bool>()) return Operand::of_bool(*flag);
  if (const auto* integer = value.get<Dim>()) return Operand::of(*integer);
  if (const auto* number = value.get<Float>()) return Operand::of(number->number());
  if (value.get<Tensor>()) {
    return input_error("torch.tensor() of tensors: use torch.stack, or .clone()");
  }
  return input_error("new(): invalid data type '{}'", type_name(value));
}

Status collect(const Value& value, size_t depth, Literals& out) {
  const std::vector<Value>* items = items_of(value);
  if (!items) {
    if (depth != out.shape.size()) {
      return input_error("tensor(): its nested lists must all have the same depth");
    }
    out.numbers.push_back(KW_TRY(literal_of(value)));
    if (static_cast<int64_t>(out.numbers.size()) > kMaxLiterals) {
      return input_error("tensor(): more than {} numbers; pass them as an input", kMaxLiterals);
    }
    return Done{};
  }
  const bool first = out.numbers.empty() && depth == out.shape.size();
  if (first) out.shape.push_back(Dim(static_cast<int64_t>(items->size())));
  if (depth >= out.shape.size() ||
      out.shape[depth].value() != static_cast<int64_t>(items->size())) {
    return input_error("expected sequence of length {} at dim {} (got {})",
                       depth < out.shape.size() ? out.shape[depth].value() : 0, depth,
                       items->size());
  }
  for (const Value& item : *items) KW_TRY(collect(item, depth + 1, out));
  return Done{};
}

Result<Value> literal_tensor(Call& call, std::optional<DType> fallback) {
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  graph::Builder& g = call.graph();
  if (const auto* tensor = call["data"].get<Tensor>()) {
    return tensor_value(dtype ? g.cast(tensor->node, *dtype) : tensor->node);
  }
  Literals literals;
  KW_TRY(collect(call["data"], 0, literals));
  DType type = literals.numbers.empty() ? DType::Fp32 : DType::Bool;
  for (const Operand& number : literals.numbers) {
    type = graph::promote(type, dtype_of_number(number));
  }
  type = dtype.value_or(fallback.value_or(type));
  if (literals.numbers.empty()) return fill(call, literals.shape, type, Operand::of(int64_t{0}));
  if (literals.shape.empty()) return tensor_value(KW_TRY(g.as_tensor(literals.numbers[0], type)));
  graph::Node concat;
  concat.op = Op::Concat;
  concat.attrs.dims = {0};
  for (const Operand& number : literals.numbers) {
    NodeId scalar = KW_TRY(g.as_tensor(number, type));
    concat.inputs.push_back(KW_TRY(g.reshape(scalar, {Dim(1)})));
  }
  NodeId line = KW_TRY(g.add(std::move(concat)));
  return tensor_value(KW_TRY(g.reshape(line, literals.shape)));
}

Result<Value> tensor_row(Call& call) { return literal_tensor(call, std::nullopt); }

Result<Value> new_tensor_row(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return literal_tensor(call, call.graph()[x].dtype);
}

Result<Value> scalar_tensor(Call& call) {
  Operand number = KW_TRY(call.operand("s"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  if (number.kind == Operand::Kind::Tensor) return tensor_value(number.node);
  return tensor_value(KW_TRY(call.graph().as_tensor(number, dtype.value_or(DType::Fp32))));
}

constexpr char kSize[] = "*size, dtype=None";
constexpr char kLike[] = "input, *, dtype=None";
constexpr char kNew[] = "input, *size, dtype=None";

constexpr OpRow kCreationRows[] = {
    {"torch.zeros", kSize, of_size<0>},
    {"torch.ones", kSize, of_size<1>},
    {"torch.empty", kSize, of_size<0>},
    {"torch.zeros_like", kLike, like<0>},
    {"torch.ones_like", kLike, like<1>},
    {"torch.empty_like", kLike, like<0>},
    {"Tensor.new_zeros", kNew, new_of_size<0>},
    {"Tensor.new_ones", kNew, new_of_size<1>},
    {"Tensor.new_empty", kNew, new_of_size<0>},
    {"torch.full", "size, fill_value, *, dtype=None", full},
    {"torch.full_like", "input, fill_value, *, dtype=None", full_like},
    {"Tensor.new_full", "input, size, fill_value, *, dtype=None", new_full},
    {"torch.arange", "*range, start=None, end=None, step=None, dtype=None", arange},
    {"torch.linspace", "start, end, steps, *, dtype=None", linspace},
    {"torch.logspace", "start, end, steps, base=10.0, *, dtype=None", logspace},
    {"torch.eye", "n, m=None, *, dtype=None", eye},
    {"torch.tensor torch.as_tensor torch.asarray", "data, dtype=None", tensor_row},
    {"Tensor.new_tensor", "input, data, *, dtype=None", new_tensor_row},
    {"torch.scalar_tensor", "s, *, dtype=None", scalar_tensor},
};

}  // namespace

std::span<const OpRow> creation_rows() { return kCreationRows; }

}  // namespace kw::frontend
