// Changes the order or shape of one tensor; joining and splitting is in ops_joining.cpp. Most rows
// are reshape, permute, expand and slice, which move values without arithmetic. So views work
// (cell.h), and later stages can fold movements into index arithmetic. An operator per PyTorch
// function would hide this. view(dtype) is refused, because a graph has values, not bits. clone and
// contiguous return the same node: memory does not exist in a graph.
#include <algorithm>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/compose_window.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Shape;
using tensor::DType;

Result<Value> unmoved(Call& call) { return tensor_value(KW_TRY(call.tensor("input"))); }

Result<Value> detached(Call& call) {
  const NodeId x = KW_TRY(call.tensor("input"));
  return tensor_value(KW_TRY(graph::detach(call.graph(), x)));
}

Result<Value> reshape(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (call["shape"].get<DTypeValue>() ||
      (items_of(call["shape"]) && items_of(call["shape"])->size() == 1 &&
       (*items_of(call["shape"]))[0].get<DTypeValue>())) {
    return input_error(
        "view(dtype) reinterprets bits, which a graph of values does not have; use .to(dtype) "
        "to convert");
  }
  Shape shape = KW_TRY(call.sizes("shape"));
  return tensor_value(KW_TRY(call.graph().reshape(x, std::move(shape))));
}

Result<Value> reshape_as(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId other = KW_TRY(call.tensor("other"));
  return tensor_value(KW_TRY(call.graph().reshape(x, call.graph()[other].shape)));
}

Result<Value> expand(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape shape = KW_TRY(call.sizes("size"));
  return tensor_value(KW_TRY(call.graph().expand(x, std::move(shape))));
}

Result<Value> expand_as(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId other = KW_TRY(call.tensor("other"));
  return tensor_value(KW_TRY(call.graph().expand(x, call.graph()[other].shape)));
}

Result<Value> flatten(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int start = KW_TRY(call.dim("start_dim", x));
  int end = KW_TRY(call.dim("end_dim", x));
  return tensor_value(KW_TRY(graph::flatten(call.graph(), x, start, end)));
}

Result<Value> ravel(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return tensor_value(KW_TRY(call.graph().reshape(x, {Dim(-1)})));
}

Result<Value> unflatten(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  Shape sizes = KW_TRY(call.sizes("sizes"));
  return tensor_value(KW_TRY(graph::unflatten(call.graph(), x, dim, sizes)));
}

// Named dims with an extent other than 1 stay.
Result<Value> squeeze(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (!call.given("dim")) return tensor_value(KW_TRY(graph::squeeze(call.graph(), x, {})));
  std::vector<int> dims = KW_TRY(call.dims("dim", x));
  if (call.graph().rank(x) == 0) return tensor_value(x);
  std::erase_if(dims, [&](int dim) { return call.graph().extent(x, dim).value() != 1; });
  if (dims.empty()) return tensor_value(x);
  return tensor_value(KW_TRY(graph::squeeze(call.graph(), x, dims)));
}

Result<Value> unsqueeze(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int64_t dim = KW_TRY(call.integer("dim"));
  const int rank = call.graph().rank(x);
  if (dim < -rank - 1 || dim > rank) {
    return input_error("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                       -rank - 1, rank, dim);
  }
  const int at = static_cast<int>(dim < 0 ? dim + rank + 1 : dim);
  return tensor_value(KW_TRY(graph::unsqueeze(call.graph(), x, at)));
}

Result<Value> transpose(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int first = KW_TRY(call.dim("dim0", x));
  int second = KW_TRY(call.dim("dim1", x));
  if (call.graph().rank(x) == 0) return tensor_value(x);
  return tensor_value(KW_TRY(graph::transpose(call.graph(), x, first, second)));
}

Result<Value> t(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const int rank = call.graph().rank(x);
  if (rank > 2) {
    return input_error("t() expects a tensor with <= 2 dimensions, but self is {}D", rank);
  }
  if (rank < 2) return tensor_value(x);
  return tensor_value(KW_TRY(call.graph().permute(x, {1, 0})));
}

Result<Value> adjoint(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (call.graph().rank(x) < 2) {
    return input_error("tensor.adjoint() is only supported on matrices or batches of matrices");
  }
  return tensor_value(KW_TRY(graph::transpose(call.graph(), x, -2, -1)));
}

// Dims in the order given, which matters here, unlike for a reduction.
Result<std::vector<int>> ordered_dims(Call& call, std::string_view name, NodeId x) {
  Shape given = KW_TRY(call.sizes(name));
  std::vector<int> dims;
  for (const Dim& dim : given) dims.push_back(KW_TRY(call.graph().wrap_dim(dim.value(), x)));
  return dims;
}

Result<Value> permute(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(ordered_dims(call, "dims", x));
  if (static_cast<int>(dims.size()) != call.graph().rank(x)) {
    return input_error(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
        "of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = "
        "{}",
        call.graph().rank(x), dims.size());
  }
  return tensor_value(KW_TRY(call.graph().permute(x, dims)));
}

Result<Value> movedim(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> from = KW_TRY(ordered_dims(call, "source", x));
  std::vector<int> to = KW_TRY(ordered_dims(call, "destination", x));
  return tensor_value(KW_TRY(graph::movedim(call.graph(), x, from, to)));
}

Result<Value> flip(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::vector<int> dims = KW_TRY(ordered_dims(call, "dims", x));
  if (dims.empty() || call.graph().rank(x) == 0) return tensor_value(x);
  return tensor_value(KW_TRY(graph::flip(call.graph(), x, dims)));
}

Result<Value> roll(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  Shape shifts = KW_TRY(call.sizes("shifts"));
  std::vector<int> dims;
  if (call.given("dims")) dims = KW_TRY(ordered_dims(call, "dims", x));
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size()) {
    return input_error("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
                       dims.size());
  }
  return tensor_value(KW_TRY(graph::roll(call.graph(), x, shifts, dims)));
}

using Triangle = Result<NodeId> (*)(graph::Builder&, NodeId, const Dim&);
template <Triangle triangle>
Result<Value> triangular(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim diagonal = KW_TRY(call.dim_value("diagonal"));
  if (call.graph().rank(x) < 2) {
    return input_error("{}: input tensor must have at least 2 dimensions", call.function());
  }
  return tensor_value(KW_TRY(triangle(call.graph(), x, diagonal)));
}

Result<Value> diag(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim offset = KW_TRY(call.dim_value("diagonal"));
  if (call.graph().rank(x) != 1 && call.graph().rank(x) != 2) {
    return input_error("diag(): Supports 1D or 2D tensors. Got {}D", call.graph().rank(x));
  }
  return tensor_value(KW_TRY(graph::diag(call.graph(), x, offset)));
}

Result<Value> diagonal(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim offset = KW_TRY(call.dim_value("offset"));
  int first = KW_TRY(call.dim("dim1", x));
  int second = KW_TRY(call.dim("dim2", x));
  if (first == second) {
    return input_error("diagonal dimensions cannot be identical {}, {}", first, second);
  }
  return tensor_value(KW_TRY(graph::diagonal(call.graph(), x, offset, first, second)));
}

Result<Value> diag_embed(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim offset = KW_TRY(call.dim_value("offset"));
  int64_t first = KW_TRY(call.integer("dim1"));
  int64_t second = KW_TRY(call.integer("dim2"));
  return tensor_value(KW_TRY(graph::diag_embed(call.graph(), x, offset, static_cast<int>(first),
                                               static_cast<int>(second))));
}

// Windows of `size` elements, `step` apart, as a new last dim.
Result<Value> unfold(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dimension", x));
  const Dim size = KW_TRY(call.dim_value("size"));
  int64_t step = KW_TRY(call.integer("step"));
  graph::Builder& g = call.graph();
  if (g.rank(x) == 0) x = KW_TRY(g.reshape(x, {Dim(1)}));
  const Dim extent = g.extent(x, dim);
  if (step <= 0) return input_error("step is {} but must be > 0", step);
  if (size.value() < 0 || size.value() > extent.value()) {
    return input_error("maximum size for tensor at dimension {} is {} but size is {}", dim,
                       extent.value(), size.value());
  }
  graph::Span span;
  span.size = size;
  span.stride = step;
  return tensor_value(KW_TRY(graph::window(g, x, dim, span)));
}

constexpr OpRow kMovementRows[] = {
    {"Tensor.contiguous Tensor.cpu Tensor.cuda Tensor.clone torch.clone",
     "input, *, memory_format=None", unmoved},
    {"Tensor.detach torch.detach", "input", detached},
    {"torch.alias Tensor.requires_grad_ Tensor.retain_grad", "input", unmoved},
    {"torch.reshape", "input, shape", reshape},
    {"Tensor.reshape Tensor.view", "input, *shape", reshape},
    {"Tensor.view_as Tensor.reshape_as", "input, other", reshape_as},
    {"Tensor.expand", "input, *size", expand},
    {"torch.broadcast_to", "input, size", expand},
    {"Tensor.broadcast_to", "input, *size", expand},
    {"Tensor.expand_as", "input, other", expand_as},
    {"torch.flatten Tensor.flatten", "input, start_dim=0, end_dim=-1", flatten},
    {"torch.ravel Tensor.ravel", "input", ravel},
    {"torch.unflatten Tensor.unflatten", "input, dim, sizes", unflatten},
    {"torch.squeeze Tensor.squeeze", "input, dim=None", squeeze},
    {"torch.unsqueeze Tensor.unsqueeze", "input, dim", unsqueeze},
    {"torch.transpose Tensor.transpose torch.swapdims Tensor.swapdims", "input, dim0, dim1",
     transpose},
    {"torch.swapaxes Tensor.swapaxes", "input, dim0, dim1", transpose},
    {"torch.t Tensor.t", "input", t},
    {"torch.adjoint Tensor.adjoint", "input", adjoint},
    {"torch.permute", "input, dims", permute},
    {"Tensor.permute", "input, *dims", permute},
    {"torch.movedim Tensor.movedim torch.moveaxis Tensor.moveaxis", "input, source, destination",
     movedim},
    {"torch.flip", "input, dims", flip},
    {"Tensor.flip", "input, *dims", flip},
    {"torch.roll Tensor.roll", "input, shifts, dims=None", roll},
    {"torch.triu Tensor.triu", "input, diagonal=0", triangular<graph::triu>},
    {"torch.tril Tensor.tril", "input, diagonal=0", triangular<graph::tril>},
    {"torch.diag Tensor.diag", "input, diagonal=0", diag},
    {"torch.diagonal Tensor.diagonal", "input, offset=0, dim1=0, dim2=1", diagonal},
    {"torch.linalg.diagonal", "input, *, offset=0, dim1=-2, dim2=-1", diagonal},
    {"torch.diag_embed Tensor.diag_embed", "input, offset=0, dim1=-2, dim2=-1", diag_embed},
    {"Tensor.unfold", "input, dimension, size, step", unfold},
};

}  // namespace

std::span<const OpRow> movement_rows() { return kMovementRows; }

}  // namespace kw::frontend
