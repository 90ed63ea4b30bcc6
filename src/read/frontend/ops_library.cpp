// Rows for python/library alone: what PyTorch has no function for, or one with other nodes.
#include <algorithm>

#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Shape;
using tensor::DType;

Result<Value> result_type(Call& call) {
  std::vector<graph::Operand> operands = {KW_TRY(call.operand("a")), KW_TRY(call.operand("b"))};
  if (call.given("c")) operands.push_back(KW_TRY(call.operand("c")));
  return Value(DTypeValue{KW_TRY(call.graph().result_type(operands))});
}

// "Long", as PyTorch's messages say.
Result<Value> type_word(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return Value(std::string(graph::torch_name(call.graph().dtype(x))));
}

// In the type that kernels compute in.
Result<Value> wide_row(Call& call) {
  Formula f(call);
  return f.result(wide(f.tensor("input")));
}

// Whether both have the same extents; if they have, it is a condition of the trace.
Result<Value> same_sizes(Call& call) {
  const Shape a = KW_TRY(call.sizes("a"));
  const Shape b = KW_TRY(call.sizes("b"));
  if (a != b) return Value(false);
  for (size_t i = 0; i < a.size(); ++i) call.graph().guard_equal(a[i], b[i]);
  return Value(true);
}

// The index of every element along one dim of that shape.
Result<Value> positions(Call& call) {
  Shape shape = KW_TRY(call.sizes("shape"));
  const int64_t dim = KW_TRY(call.integer("dim"));
  const auto fits = [](const Dim& extent) { return extent.value() >= 0; };
  const bool within = dim >= 0 && dim < static_cast<int64_t>(shape.size());
  if (!within || !std::all_of(shape.begin(), shape.end(), fits))
    return input_error("positions() needs a shape and one of its dims");
  const DType dtype = KW_TRY(call.dtype("dtype")).value_or(DType::Int64);
  return tensor_value(call.graph().iota(std::move(shape), static_cast<int>(dim), dtype));
}

// The dim of `input`; negative ones count from the end, the result does not.
Result<Value> wrap_dim(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return Value(Dim(KW_TRY(call.dim("dim", x))));
}

// The value of an extent, which becomes a condition of the trace.
Result<Value> concrete_row(Call& call) {
  const Dim extent = KW_TRY(call.dim_value("extent"));
  return Value(Dim(concrete(call.graph(), extent)));
}

// torch.return_types.max.
Result<Value> named_pair(Call& call) {
  NodeId values = KW_TRY(call.tensor("values"));
  NodeId indices = KW_TRY(call.tensor("indices"));
  return values_and_indices(values, indices);
}

// The elements from start to stop along one dim, with no condition: the caller knows that they fit.
Result<Value> slice_row(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  const Dim start = KW_TRY(call.dim_value("start"));
  const Dim stop = KW_TRY(call.dim_value("stop"));
  if (call.graph().rank(x) == 0 || start.value() < 0 || stop.value() < start.value() ||
      stop.value() > call.graph().extent(x, dim).value())
    return input_error("slice() out of range");
  return tensor_value(KW_TRY(call.graph().slice(x, dim, start, stop)));
}

// Whether a number follows from extents or runtime scalars, so that its value must decide nothing.
Result<Value> follows(Call& call) {
  const auto* number = call["number"].get<Float>();
  return Value(number != nullptr && number->origin() != nullptr);
}

// Makes it a condition of the trace that `extent` is a multiple of `divisor`.
Result<Value> need_multiple_row(Call& call) {
  const Dim extent = KW_TRY(call.dim_value("extent"));
  const int64_t divisor = KW_TRY(call.integer("divisor"));
  const std::string otherwise = KW_TRY(call.text("otherwise"));
  KW_TRY(need_multiple(call.graph(), extent, divisor, otherwise));
  return Value();
}

// torch.broadcast_shapes(*shapes), for tuples and ints.
Result<Value> broadcast_shapes(Call& call) {
  std::vector<Shape> shapes;
  for (const Value& item : *items_of(call["shapes"])) {
    const std::vector<Value> single = {item};
    const std::vector<Value>* extents = items_of(item);
    Shape& shape = shapes.emplace_back();
    for (const Value& extent : extents ? *extents : single) {
      const auto known = as_dim(extent);
      if (!known) return input_error("broadcast_shapes() needs shapes, not {}", type_name(item));
      shape.push_back(*known);
    }
  }
  std::vector<Value> extents;
  for (const Dim& extent : KW_TRY(call.graph().broadcast_shapes(shapes)))
    extents.emplace_back(extent);
  return make_tuple(std::move(extents));
}

constexpr OpRow kHelperRows[] = {
    {"aten.library.result_type", "a, b, c=None", result_type},
    {"aten.library.type_word", "input", type_word},
    {"aten.library.wide", "input", wide_row},
    {"aten.library.same_sizes", "a, b", same_sizes},
    {"aten.library.positions", "shape, dim, dtype=None", positions},
    {"aten.library.wrap_dim", "input, dim", wrap_dim},
    {"aten.library.concrete", "extent", concrete_row},
    {"aten.library.slice", "input, dim, start, stop", slice_row},
    {"aten.library.need_multiple", "extent, divisor, otherwise", need_multiple_row},
    {"torch.broadcast_shapes", "*shapes", broadcast_shapes},
    {"aten.library.follows", "number", follows},
    {"aten.library.values_and_indices", "values, indices", named_pair},
};

}  // namespace

std::span<const OpRow> helper_rows() { return kHelperRows; }

}  // namespace kw::frontend
