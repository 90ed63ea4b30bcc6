// Joins several tensors, splits one into several, pads and repeats. All become slices,
// concatenations and expands of the graph. The rows differ from graph/compose_move.h only in
// argument forms and error texts, which follow PyTorch. Sizes are Dims and keep their symbols, so
// x.split(D // 2) follows the task's dims. The number of parts is fixed in the trace: each part is
// a node, since an operator with several results would change the graph. Repeats given as a tensor
// are refused: their sum decides the shape.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Shape;

Result<Value> cat(Call& call) {
  std::vector<NodeId> tensors = KW_TRY(call.tensors("tensors"));
  if (tensors.empty()) {
    return input_error("torch.cat(): expected a non-empty list of Tensors");
  }
  int64_t dim = KW_TRY(call.integer("dim"));
  return tensor_value(KW_TRY(graph::cat(call.graph(), tensors, static_cast<int>(dim))));
}

Result<Value> stack(Call& call) {
  std::vector<NodeId> tensors = KW_TRY(call.tensors("tensors"));
  if (tensors.empty()) return input_error("stack expects a non-empty TensorList");
  int64_t dim = KW_TRY(call.integer("dim"));
  return tensor_value(KW_TRY(graph::stack(call.graph(), tensors, static_cast<int>(dim))));
}

Result<Value> split_named(Call& call, std::string_view input, std::string_view size) {
  NodeId x = KW_TRY(call.tensor(input));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0)
    return input_error("split expects at least a 1-dimensional tensor");
  if (items_of(call[size])) {
    Shape sizes = KW_TRY(call.sizes(size));
    return tensor_tuple(KW_TRY(graph::split_sizes(call.graph(), x, sizes, dim)));
  }
  const Dim each = KW_TRY(call.dim_value(size));
  return tensor_tuple(KW_TRY(graph::split(call.graph(), x, each, dim)));
}

Result<Value> chunk(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int64_t chunks = KW_TRY(call.integer("chunks"));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0)
    return input_error("chunk expects at least a 1-dimensional tensor");
  if (chunks < 1) {
    return input_error("chunk expects `chunks` to be greater than 0, got: {}", chunks);
  }
  return tensor_tuple(KW_TRY(graph::chunk(call.graph(), x, chunks, dim)));
}

// Splits into a number of sections, or at the given positions.
Result<Value> tensor_split(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  graph::Builder& g = call.graph();
  if (!items_of(call["indices_or_sections"])) {
    int64_t sections = KW_TRY(call.integer("indices_or_sections"));
    if (sections < 1) return input_error("number of sections must be larger than 0");
    return tensor_tuple(KW_TRY(graph::tensor_split(g, x, sections, dim)));
  }
  Shape places = KW_TRY(call.sizes("indices_or_sections"));
  std::vector<NodeId> parts;
  std::optional<Dim> start = Dim(0);
  for (const Dim& place : places) {
    parts.push_back(KW_TRY(graph::slice_range(g, x, dim, start, place, 1)));
    start = place;
  }
  parts.push_back(KW_TRY(graph::slice_range(g, x, dim, start, std::nullopt, 1)));
  return tensor_tuple(parts);
}

Result<Value> unbind(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0)
    return input_error("Dimension specified as 0 but tensor has no dimensions");
  return tensor_tuple(KW_TRY(graph::unbind(call.graph(), x, dim)));
}

Result<Value> narrow(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0)
    return input_error("narrow() cannot be applied to a 0-dim tensor.");
  const Dim start = KW_TRY(call.dim_value("start"));
  const Dim length = KW_TRY(call.dim_value("length"));
  return tensor_value(KW_TRY(graph::narrow(call.graph(), x, dim, start, length)));
}

Result<Value> select(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  if (call.graph().rank(x) == 0)
    return input_error("select() cannot be applied to a 0-dim tensor.");
  const Dim index = KW_TRY(call.dim_value("index"));
  return tensor_value(KW_TRY(graph::select(call.graph(), x, dim, index)));
}

Result<Value> repeat(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape times = KW_TRY(call.sizes("repeats"));
  return tensor_value(KW_TRY(graph::repeat(call.graph(), x, times)));
}

Result<Value> tile(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape times = KW_TRY(call.sizes("dims"));
  return tensor_value(KW_TRY(graph::tile(call.graph(), x, times)));
}

// A tensor of repeats gives a shape that depends on values, so only an int is supported.
Result<Value> repeat_interleave(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (call["repeats"].get<Tensor>()) {
    return input_error(
        "repeat_interleave(): repeats as a tensor gives a shape that depends on "
        "values; an int is supported");
  }
  const Dim times = KW_TRY(call.dim_value("repeats"));
  std::optional<int> dim;
  if (call.given("dim")) dim = KW_TRY(call.dim("dim", x));
  return tensor_value(KW_TRY(graph::repeat_interleave(call.graph(), x, times, dim)));
}

Result<Value> pad(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape pads = KW_TRY(call.sizes("pad"));
  std::string name = KW_TRY(call.text("mode"));
  double value = call.given("value") ? KW_TRY(call.number("value")) : 0;
  graph::PadMode mode = graph::PadMode::Constant;
  if (name == "reflect")
    mode = graph::PadMode::Reflect;
  else if (name == "replicate")
    mode = graph::PadMode::Replicate;
  else if (name == "circular")
    mode = graph::PadMode::Circular;
  else if (name != "constant")
    return input_error("Unrecognised padding mode {}", name);
  if (pads.size() % 2 != 0) return input_error("Padding length must be divisible by 2");
  if (static_cast<int>(pads.size() / 2) > call.graph().rank(x)) {
    return input_error(
        "Padding length should be less than or equal to two times the input dimension but got "
        "padding length {} and input of dimension {}",
        pads.size(), call.graph().rank(x));
  }
  return tensor_value(KW_TRY(graph::pad(call.graph(), x, pads, mode, value)));
}

Result<Value> broadcast_tensors(Call& call) {
  std::vector<NodeId> tensors = KW_TRY(call.tensors("tensors"));
  Shape shape = KW_TRY(call.graph().broadcast(tensors));
  for (NodeId& x : tensors) x = KW_TRY(call.graph().expand(x, shape));
  return tensor_tuple(tensors);
}

// The sum over the dims that broadcasting added or enlarged.
Result<Value> sum_to_size(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape size = KW_TRY(call.sizes("size"));
  graph::Builder& g = call.graph();
  const Shape from = g[x].shape;
  bool fits = size.size() <= from.size();
  const size_t added = fits ? from.size() - size.size() : 0;
  std::vector<int> dims;
  for (size_t i = 0; i < from.size() && fits; ++i) {
    if (i >= added && size[i - added] == from[i]) continue;
    fits = i < added || size[i - added].value() == 1;
    dims.push_back(static_cast<int>(i));
  }
  if (!fits) {
    return input_error("size {} is not expandable to size {}.", graph::shape_text(size),
                       graph::shape_text(from));
  }
  if (!dims.empty()) x = KW_TRY(graph::sum(g, x, dims, true, g.dtype(x)));
  return tensor_value(KW_TRY(g.reshape(x, size)));
}

constexpr OpRow kJoiningRows[] = {
    {"torch.cat torch.concat torch.concatenate", "tensors, dim=0", cat},
    {"torch.stack", "tensors, dim=0", stack},
    {"torch.split", "tensor, split_size_or_sections, dim=0",
     [](Call& call) { return split_named(call, "tensor", "split_size_or_sections"); }},
    {"Tensor.split", "input, split_size, dim=0",
     [](Call& call) { return split_named(call, "input", "split_size"); }},
    {"torch.split_with_sizes Tensor.split_with_sizes", "input, split_sizes, dim=0",
     [](Call& call) { return split_named(call, "input", "split_sizes"); }},
    {"torch.chunk Tensor.chunk", "input, chunks, dim=0", chunk},
    {"torch.tensor_split Tensor.tensor_split", "input, indices_or_sections, dim=0", tensor_split},
    {"torch.unbind Tensor.unbind", "input, dim=0", unbind},
    {"torch.narrow Tensor.narrow", "input, dim, start, length", narrow},
    {"torch.select Tensor.select", "input, dim, index", select},
    {"Tensor.repeat", "input, *repeats", repeat},
    {"torch.tile", "input, dims", tile},
    {"Tensor.tile", "input, *dims", tile},
    {"torch.repeat_interleave Tensor.repeat_interleave",
     "input, repeats, dim=None, *, output_size=None", repeat_interleave},
    {"F.pad", "input, pad, mode='constant', value=None", pad},
    {"Tensor.sum_to_size", "input, *size", sum_to_size},
    {"torch.broadcast_tensors", "*tensors", broadcast_tensors},
};

}  // namespace

std::span<const OpRow> joining_rows() { return kJoiningRows; }

}  // namespace kw::frontend
