// Sorting and choosing along one dim, and counting against sorted boundaries. Sorting and top-k are
// operators of the graph; quantiles read sorted values. searchsorted counts the boundaries below
// each value instead of a binary search, because a graph has no loops. The result is the same for
// sorted boundaries; the work is values times boundaries. Quantiles need the number of elements, so
// that extent becomes a constant of the trace. A NaN makes a quantile NaN, as in PyTorch.
#include <fmt/core.h>

#include <cmath>

#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using tensor::DType;

Value both(const graph::ValueIndex& pair) { return values_and_indices(pair.value, pair.index); }

Result<Value> sort(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  bool descending = KW_TRY(call.boolean("descending"));
  return both(KW_TRY(graph::sort(call.graph(), x, dim, descending)));
}

Result<Value> argsort(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  bool descending = KW_TRY(call.boolean("descending"));
  return tensor_value(KW_TRY(graph::argsort(call.graph(), x, dim, descending)));
}

Result<Value> msort(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  graph::ValueIndex pair = KW_TRY(graph::sort(call.graph(), x, 0, false));
  return tensor_value(pair.value);
}

Result<Value> topk(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim k = KW_TRY(call.dim_value("k"));
  int dim = KW_TRY(call.dim("dim", x));
  bool largest = KW_TRY(call.boolean("largest"));
  return both(KW_TRY(graph::topk(call.graph(), x, k, dim, largest)));
}

Result<Value> kthvalue(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  const Dim k = KW_TRY(call.dim_value("k"));
  int dim = KW_TRY(call.dim("dim", x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  return both(KW_TRY(graph::kthvalue(call.graph(), x, k, dim, keepdim)));
}

Result<Value> median(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (!call.given("dim")) {
    return tensor_value(KW_TRY(graph::median_of_all(call.graph(), x)));
  }
  int dim = KW_TRY(call.dim("dim", x));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  return both(KW_TRY(graph::median(call.graph(), x, dim, keepdim)));
}

// The two ranks between which the q-quantile of n values lies, and the weight of the upper one.
struct Place {
  int64_t low = 0, high = 0;
  double weight = 0;
};

Result<Place> place_of(double q, int64_t n, const std::string& interpolation) {
  if (!(q >= 0 && q <= 1)) return input_error("quantile() q must be in the range [0, 1]");
  const double at = q * static_cast<double>(n - 1);
  Place place{static_cast<int64_t>(std::floor(at)), static_cast<int64_t>(std::ceil(at)), 0};
  if (interpolation == "linear")
    place.weight = at - std::floor(at);
  else if (interpolation == "midpoint")
    place.weight = place.low == place.high ? 0 : 0.5;
  else if (interpolation == "lower")
    place.high = place.low;
  else if (interpolation == "higher")
    place.low = place.high;
  else if (interpolation == "nearest")
    place.low = place.high = std::llrint(at);
  else
    return input_error(
        fmt::format("quantile() interpolation must be one of linear, lower, higher, "
                    "midpoint or nearest, but got {}",
                    interpolation));
  return place;
}

// Interpolates between the sorted values. NaN sorts last, and one NaN makes the whole row NaN.
Result<NodeId> quantile_at(Call& call, NodeId sorted, int dim, double q) {
  graph::Builder& g = call.graph();
  const Dim n = g.extent(sorted, dim);
  std::string interpolation = KW_TRY(call.text("interpolation"));
  Place place = KW_TRY(place_of(q, concrete(call.graph(), n), interpolation));
  Formula f(call);
  Term low = f.node(graph::narrow(g, sorted, dim, Dim(place.low), Dim(1)));
  Term high = f.node(graph::narrow(g, sorted, dim, Dim(place.high), Dim(1)));
  Term last = f.node(graph::narrow(g, sorted, dim, n - Dim(1), Dim(1)));
  Term value = place.weight == 0 ? low : low + (high - low) * place.weight;
  value = where(isnan(last), last, value);
  KW_TRY(f.result(value));
  return value.value.node;
}

Result<Value> quantile(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  bool keepdim = f.boolean("keepdim");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  if (f.dtype(x) != DType::Fp32 && f.dtype(x) != DType::Fp64) {
    return input_error("quantile() input tensor must be either float or double dtype");
  }
  const bool all = !call.given("dim");
  const int rank = f.rank(x);
  if (all) x = f.node(g.reshape(x.value.node, {Dim(-1)}));
  if (f.failed()) return f.result(x);
  int dim = all ? 0 : KW_TRY(call.dim("dim", x.value.node));
  if (f.rank(x) == 0) x = f.node(g.reshape(x.value.node, {Dim(1)}));
  if (g.extent(x.value.node, dim).value() == 0) {
    return input_error("quantile() input tensor must be non-empty");
  }
  graph::ValueIndex sorted = KW_TRY(graph::sort(g, x.value.node, dim, false));
  const std::vector<Value>* many = items_of(call["q"]);
  std::vector<double> quantiles;
  if (!many) quantiles.push_back(KW_TRY(call.number("q")));
  for (const Value& one : many ? *many : std::vector<Value>{}) {
    const auto* number = one.get<double>();
    const auto* whole = one.get<Dim>();
    if (!number && !whole) return input_error("quantile(): q must be numbers known before the run");
    quantiles.push_back(number ? *number : static_cast<double>(whole->value()));
  }
  std::vector<NodeId> rows;
  for (double q : quantiles) {
    NodeId row = KW_TRY(quantile_at(call, sorted.value, dim, q));
    if (all && keepdim) {
      row = KW_TRY(g.reshape(row, graph::Shape(static_cast<size_t>(rank), Dim(1))));
    } else if (!keepdim) {
      row = KW_TRY(graph::squeeze(g, row, {dim}));
    }
    rows.push_back(row);
  }
  if (!many) return tensor_value(rows[0]);
  return tensor_value(KW_TRY(graph::stack(g, rows, 0)));
}

// The number of boundaries below each value (or not above it): the result of a binary search.
Result<Value> search(Call& call, NodeId boundaries, graph::Operand values, bool right) {
  bool int32 = KW_TRY(call.boolean("out_int32"));
  if (call.graph()[boundaries].shape.empty()) {
    return input_error(
        fmt::format("{}(): boundaries tensor should have a dimension", call.function()));
  }
  graph::Builder& g = call.graph();
  Formula f(call);
  Term value =
      values.is_tensor() ? f.node(values.node) : f.converted(Term(values), g[boundaries].dtype);
  if (f.failed()) return f.result(value);
  const int rank = f.rank(value);
  Term column = f.node(graph::unsqueeze(g, value.value.node, rank));
  Term row = f.node(boundaries);
  if (g.rank(boundaries) > 1) {
    if (g.rank(boundaries) != rank) {
      return input_error(
          fmt::format("{}(): boundaries and values must have the same number of "
                      "dimensions, or the boundaries one",
                      call.function()));
    }
    row = f.node(graph::unsqueeze(g, boundaries, rank - 1));
  }
  Term below = right ? row <= column : row < column;
  if (f.failed()) return f.result(below);
  // NaN sorts last, so every boundary counts as below it.
  if (tensor::is_float(f.dtype(column))) below = below | isnan(column);
  if (f.failed()) return f.result(below);
  Term count = f.node(graph::sum(g, below.value.node, {rank}, false));
  return f.result(count, int32 ? DType::Int32 : DType::Int64);
}

Result<Value> searchsorted(Call& call) {
  NodeId boundaries = KW_TRY(call.tensor("sorted_sequence"));
  graph::Operand values = KW_TRY(call.operand("input"));
  bool right = KW_TRY(call.boolean("right"));
  if (call.given("side")) {
    const std::string side = KW_TRY(call.text("side"));
    if (side != "left" && side != "right")
      return input_error(
          fmt::format("searchsorted(): side can only be 'left' or 'right' but got {}", side));
    if (side == "left" && right)
      return input_error(
          "searchsorted(): side and right can't be set to opposites, got side of left while right "
          "was True");
    right = side == "right";
  }
  return search(call, boundaries, values, right);
}

Result<Value> bucketize(Call& call) {
  graph::Operand values = KW_TRY(call.operand("input"));
  NodeId boundaries = KW_TRY(call.tensor("boundaries"));
  return search(call, boundaries, values, KW_TRY(call.boolean("right")));
}

Result<Value> isin(Call& call) {
  Formula f(call);
  Term elements = f.tensor("elements");
  Term tests = f.operand("test_elements");
  bool invert = f.boolean("invert");
  if (f.failed()) return f.result(elements);
  graph::Builder& g = call.graph();
  const int rank = f.rank(elements);
  if (f.dtype(elements) == DType::Bool ||
      (tests.value.is_tensor() && f.dtype(tests) == DType::Bool)) {
    return input_error("Unsupported input type encountered for isin(): Bool");
  }
  if (!tests.value.is_tensor()) tests = f.converted(tests, f.type_of({elements, tests}));
  Term line = f.node(g.reshape(tests.value.node, {Dim(-1)}));
  Term column = f.node(graph::unsqueeze(g, elements.value.node, rank));
  Term equal = column == line;
  if (f.failed()) return f.result(equal);
  Term found = f.node(graph::any(g, equal.value.node, {rank}, false));
  return f.result(invert ? ~found : found);
}

constexpr OpRow kSelectionRows[] = {
    {"torch.sort Tensor.sort", "input, dim=-1, descending=False, stable=False", sort},
    {"torch.argsort Tensor.argsort", "input, dim=-1, descending=False, stable=False", argsort},
    {"torch.msort Tensor.msort", "input", msort},
    {"torch.topk Tensor.topk", "input, k, dim=-1, largest=True, sorted=True", topk},
    {"torch.kthvalue Tensor.kthvalue", "input, k, dim=-1, keepdim=False", kthvalue},
    {"torch.median Tensor.median", "input, dim=None, keepdim=False", median},
    {"torch.quantile Tensor.quantile",
     "input, q, dim=None, keepdim=False, *, interpolation='linear'", quantile},
    {"torch.searchsorted", "sorted_sequence, input, *, out_int32=False, right=False, side=None",
     searchsorted},
    {"torch.bucketize", "input, boundaries, *, out_int32=False, right=False", bucketize},
    {"torch.isin", "elements, test_elements, *, assume_unique=False, invert=False", isin},
};

}  // namespace

std::span<const OpRow> selection_rows() { return kSelectionRows; }

}  // namespace kw::frontend
