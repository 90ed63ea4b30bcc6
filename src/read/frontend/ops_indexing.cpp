// Elements selected or written by index tensors or masks. A row reads its arguments and calls
// graph/compose_index.h, which uses the operators Gather, IndexSelect and Scatter. In-place forms
// (fill_, copy_) return the new value, and the tracer writes it back. The alternative, an
// operator per function, would need a rule in every later stage. The cost: scatter_reduce needs a
// second scatter that counts the values per position. A result whose shape depends on values
// (one_hot without a count) is refused.
#include <cmath>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Operand;
using graph::ScatterMode;
using graph::Shape;
using tensor::DType;

Result<Value> gather(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  return tensor_value(KW_TRY(graph::gather(call.graph(), x, dim, index)));
}

Result<Value> take_along_dim(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId index = KW_TRY(call.tensor("indices"));
  std::optional<int> dim;
  if (call.given("dim")) dim = KW_TRY(call.dim("dim", x));
  return tensor_value(KW_TRY(graph::take_along_dim(call.graph(), x, index, dim)));
}

Result<Value> take(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId index = KW_TRY(call.tensor("index"));
  return tensor_value(KW_TRY(graph::take(call.graph(), x, index)));
}

Result<Value> index_select(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  return tensor_value(KW_TRY(graph::index_select(call.graph(), x, dim, index)));
}

Result<Value> embedding(Call& call) {
  NodeId index = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  if (call.given("max_norm")) {
    return input_error("embedding(max_norm=…) changes its weight in place, which is not supported");
  }
  graph::Builder& g = call.graph();
  const NodeId rows = KW_TRY(graph::embedding(g, index, weight));
  if (!call.given("padding_idx")) return tensor_value(rows);
  // This row is read like the others, but has no gradient.
  Dim padding = KW_TRY(call.dim_value("padding_idx"));
  const Dim count = g.extent(weight, 0);
  if (padding.value() < -count.value() || padding.value() >= count.value())
    return input_error("padding_idx must be within num_embeddings");
  if (padding.value() < 0) padding = padding + count;
  Formula f(call);
  const Term chosen = f.node(graph::unsqueeze(g, index, -1)) == padding;
  return f.result(where(chosen, f.node(graph::detach(g, rows)), f.node(rows)));
}

Result<Value> one_hot(Call& call) {
  NodeId index = KW_TRY(call.tensor("tensor"));
  const Dim classes = KW_TRY(call.dim_value("num_classes"));
  if (classes.value() < 0) {
    return input_error(
        "one_hot() without num_classes gives a shape that depends on values; pass "
        "num_classes");
  }
  return tensor_value(KW_TRY(graph::one_hot(call.graph(), index, classes)));
}

Result<ScatterMode> scatter_mode(const Call& call, const std::string& name) {
  if (name == "sum" || name == "add") return ScatterMode::Add;
  if (name == "prod" || name == "multiply") return ScatterMode::Multiply;
  if (name == "amax") return ScatterMode::Max;
  if (name == "amin") return ScatterMode::Min;
  return input_error("{}(): reduce='{}' is not supported; sum, prod, amax and amin are",
                     call.function(), name);
}

Result<Value> scatter(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  Operand source = KW_TRY(call.operand(call.given("value") ? "value" : "src"));
  ScatterMode mode = ScatterMode::Set;
  if (call.given("reduce")) {
    std::string name = KW_TRY(call.text("reduce"));
    mode = KW_TRY(scatter_mode(call, name));
  }
  return tensor_value(KW_TRY(graph::scatter(call.graph(), x, dim, index, source, mode)));
}

Result<Value> scatter_add(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  Operand source = KW_TRY(call.operand("src"));
  return tensor_value(
      KW_TRY(graph::scatter(call.graph(), x, dim, index, source, ScatterMode::Add)));
}

// Without include_self, the base does not count at positions that receive a value. There the
// neutral element of the mode replaces it.
double neutral(ScatterMode mode) {
  if (mode == ScatterMode::Multiply) return 1;
  if (mode == ScatterMode::Max) return -INFINITY;
  return mode == ScatterMode::Min ? INFINITY : 0;
}

Result<Value> scatter_reduce(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  int dim = KW_TRY(call.dim("dim", x.value.node));
  NodeId index = KW_TRY(call.tensor("index"));
  NodeId source = KW_TRY(call.tensor("src"));
  std::string name = KW_TRY(call.text("reduce"));
  bool include_self = KW_TRY(call.boolean("include_self"));
  const bool mean = name == "mean";
  ScatterMode mode = mean ? ScatterMode::Add : KW_TRY(scatter_mode(call, name));
  if ((mode == ScatterMode::Max || mode == ScatterMode::Min) && is_integral(f.dtype(x)) &&
      !include_self) {
    return input_error(
        "scatter_reduce(include_self=False) of integers with amax or amin is not "
        "supported");
  }
  NodeId zeros = KW_TRY(filled(g, g[x.value.node].shape, DType::Int64, Operand::of(0)));
  Term counts = f.node(graph::scatter(g, zeros, dim, index, Operand::of(1), ScatterMode::Add));
  Term base = x;
  if (!include_self) {
    Term blank =
        is_integral(f.dtype(x)) ? Term(static_cast<int>(neutral(mode))) : Term(neutral(mode));
    base = where(counts > 0, blank, x);
  }
  if (f.failed()) return f.result(base);
  Term result =
      f.node(graph::scatter(g, base.value.node, dim, index, Operand::tensor(source), mode));
  if (!mean) return f.result(result);
  Term share = maximum(include_self ? counts + 1 : counts, 1);
  if (is_integral(f.dtype(x))) {
    return f.result(apply(graph::Op::FloorDiv, result, cast(share, f.dtype(x))));
  }
  return f.result(wide(result) / cast(share, graph::opmath(f.dtype(x))), f.dtype(x));
}

Result<Value> index_add(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  NodeId source = KW_TRY(call.tensor("source"));
  Operand alpha = KW_TRY(call.operand("alpha"));
  return tensor_value(KW_TRY(graph::index_add(call.graph(), x, dim, index, source, alpha)));
}

Result<Value> index_copy(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  NodeId source = KW_TRY(call.tensor("source"));
  return tensor_value(KW_TRY(graph::index_copy(call.graph(), x, dim, index, source)));
}

Result<Value> index_fill(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  NodeId index = KW_TRY(call.tensor("index"));
  Operand value = KW_TRY(call.operand("value"));
  return tensor_value(KW_TRY(graph::index_fill(call.graph(), x, dim, index, value)));
}

Result<Value> masked_fill(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId mask = KW_TRY(call.tensor("mask"));
  Operand value = KW_TRY(call.operand("value"));
  if (call.graph().dtype(mask) != DType::Bool) {
    return input_error("masked_fill only supports boolean masks");
  }
  return tensor_value(KW_TRY(graph::masked_fill(call.graph(), x, mask, value)));
}

Result<NodeId> dimensioned(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (call.graph().rank(x) > 0) return x;
  return input_error("{}() cannot be applied to a 0-dim tensor.", call.function());
}

// x with one slice, or a range of slices, replaced by `src`.
Result<Value> select_scatter(Call& call) {
  NodeId x = KW_TRY(dimensioned(call));
  NodeId source = KW_TRY(call.tensor("src"));
  int dim = KW_TRY(call.dim("dim", x));
  int64_t at = KW_TRY(call.integer("index"));
  graph::Builder& g = call.graph();
  const int64_t extent = g.extent(x, dim).value();
  if (at < -extent || at >= extent) {
    return input_error("select_scatter(): index {} out of range for dim {} of size {}", at, dim,
                       extent);
  }
  NodeId wide = KW_TRY(graph::unsqueeze(g, source, dim));
  NodeId place =
      KW_TRY(g.reshape(g.constant_int(DType::Int64, at < 0 ? at + extent : at), {Dim(1)}));
  return tensor_value(KW_TRY(graph::index_copy(g, x, dim, place, wide)));
}

Result<Value> slice_scatter(Call& call) {
  NodeId x = KW_TRY(dimensioned(call));
  NodeId source = KW_TRY(call.tensor("src"));
  int dim = KW_TRY(call.dim("dim", x));
  std::optional<Dim> start = KW_TRY(call.maybe_dim("start"));
  std::optional<Dim> stop = KW_TRY(call.maybe_dim("end"));
  int64_t step = KW_TRY(call.integer("step"));
  graph::Builder& g = call.graph();
  NodeId all = g.iota({g.extent(x, dim)}, 0, DType::Int64);
  NodeId places = KW_TRY(graph::slice_range(g, all, 0, start, stop, step));
  return tensor_value(KW_TRY(graph::index_copy(g, x, dim, places, source)));
}

// In-place writes of a whole tensor: the value in the tensor's shape and dtype.
Result<Value> fill(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Operand value = KW_TRY(call.operand("value"));
  graph::Builder& g = call.graph();
  NodeId scalar = KW_TRY(g.as_tensor(value, g.dtype(x)));
  return tensor_value(KW_TRY(g.expand(scalar, g[x].shape)));
}

Result<Value> zero(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::Builder& g = call.graph();
  return tensor_value(KW_TRY(filled(g, g[x].shape, g.dtype(x), Operand::of(0))));
}

Result<Value> copy(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId source = KW_TRY(call.tensor("src"));
  graph::Builder& g = call.graph();
  return tensor_value(KW_TRY(g.expand(g.cast(source, g.dtype(x)), g[x].shape)));
}

// Rows and columns of a triangle, in torch's order.
template <bool upper>
Result<Value> triangle_indices(Call& call) {
  int64_t rows = KW_TRY(call.integer("row"));
  int64_t columns = KW_TRY(call.integer("col"));
  int64_t offset = KW_TRY(call.integer("offset"));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  std::vector<Value> first, second;
  constexpr int64_t kMost = 65536;
  if (rows < 0 || columns < 0 || rows > kMost || columns > kMost || rows * columns > kMost) {
    return input_error("{}(): up to {} elements are supported", call.function(), kMost);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (upper ? j - i < offset : j - i > offset) continue;
      first.push_back(Dim(i));
      second.push_back(Dim(j));
    }
  }
  const OpRow* literal = find_op("torch.tensor");
  std::vector<Value> both{make_list(first), make_list(second)};
  Call inner =
      KW_TRY(Call::bind(call.graph(), "torch.tensor", literal->signature,
                        {make_list(both), Value(DTypeValue{dtype.value_or(DType::Int64)})}, {}));
  return literal->apply(inner);
}

constexpr OpRow kIndexingRows[] = {
    {"torch.gather Tensor.gather", "input, dim, index, *, sparse_grad=False", gather},
    {"torch.take_along_dim Tensor.take_along_dim", "input, indices, dim=None", take_along_dim},
    {"torch.take Tensor.take", "input, index", take},
    {"torch.index_select Tensor.index_select", "input, dim, index", index_select},
    {"F.embedding",
     "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
     "sparse=False",
     embedding},
    {"F.one_hot", "tensor, num_classes=-1", one_hot},
    {"torch.scatter Tensor.scatter", "input, dim, index, src=None, *, value=None, reduce=None",
     scatter},
    {"torch.scatter_add Tensor.scatter_add", "input, dim, index, src", scatter_add},
    {"torch.scatter_reduce Tensor.scatter_reduce",
     "input, dim, index, src, reduce, *, include_self=True", scatter_reduce},
    {"torch.index_add Tensor.index_add", "input, dim, index, source, *, alpha=1", index_add},
    {"torch.index_copy Tensor.index_copy", "input, dim, index, source", index_copy},
    {"torch.index_fill Tensor.index_fill", "input, dim, index, value", index_fill},
    {"torch.masked_fill Tensor.masked_fill", "input, mask, value", masked_fill},
    {"torch.select_scatter Tensor.select_scatter", "input, src, dim, index", select_scatter},
    {"torch.slice_scatter Tensor.slice_scatter", "input, src, dim=0, start=None, end=None, step=1",
     slice_scatter},
    {"Tensor.fill_ torch.fill_ torch.fill", "input, value", fill},
    {"Tensor.zero_ torch.zero_", "input", zero},
    {"Tensor.copy_", "input, src, non_blocking=False", copy},
    {"torch.tril_indices", "row, col, offset=0, *, dtype=None", triangle_indices<false>},
    {"torch.triu_indices", "row, col, offset=0, *, dtype=None", triangle_indices<true>},
};

}  // namespace

std::span<const OpRow> indexing_rows() { return kIndexingRows; }

}  // namespace kw::frontend
