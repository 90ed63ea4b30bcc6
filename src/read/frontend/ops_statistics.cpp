// Statistics and small functions of linear algebra: covariance, trapezoids, renorm, vander,
// nanmedian. PyTorch composes most of them from other operators, too, so each row follows that
// composition with its roundings. No graph operator is added for functions that references use
// rarely. Weights of cov() are refused. The cost is some extra work: nanmedian sorts the whole row
// to find one element.
#include <fmt/core.h>

#include <algorithm>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;
using tensor::DType;

// Rows are variables, columns are observations.
Result<NodeId> covariance(Call& call, double correction) {
  Formula f(call);
  Term x = f.tensor("input");
  if (f.failed()) return f.done(x);
  graph::Builder& g = call.graph();
  if (f.rank(x) > 2) {
    return input_error(
        fmt::format("{}(): expected input to have two or fewer dimensions but got "
                    "an input with {} dimensions",
                    call.function(), f.rank(x)));
  }
  const bool line = f.rank(x) < 2;
  x = cast(x, graph::float_type(f.dtype(x)));
  if (line) x = f.node(g.reshape(x.value.node, {Dim(1), Dim(-1)}));
  if (f.failed()) return f.done(x);
  const double count = static_cast<double>(g.extent(x.value.node, 1).value());
  Term mean = f.node(graph::mean(g, x.value.node, {1}, true));
  Term centred = x - mean;
  if (f.failed()) return f.done(centred);
  NodeId turned = KW_TRY(g.permute(centred.value.node, {1, 0}));
  Term result = f.node(g.matmul(centred.value.node, turned)) / std::max(count - correction, 0.0);
  if (line && !f.failed()) result = f.node(g.reshape(result.value.node, {}));
  return f.done(result);
}

Result<Value> cov(Call& call) {
  if (call.given("fweights") || call.given("aweights")) {
    return input_error("cov(): weights are not supported; scale the observations instead");
  }
  double correction = KW_TRY(call.number("correction"));
  return tensor_value(KW_TRY(covariance(call, correction)));
}

Result<Value> corrcoef(Call& call) {
  NodeId c = KW_TRY(covariance(call, 1));
  graph::Builder& g = call.graph();
  Formula f(call);
  Term matrix = f.node(c);
  if (g.rank(c) == 0) return f.result(matrix / matrix);
  Term deviations = sqrt(f.node(graph::diagonal(g, c, Dim(0), 0, 1)));
  if (f.failed()) return f.result(deviations);
  Term column = f.node(graph::unsqueeze(g, deviations.value.node, 1));
  return f.result(clamp(matrix / column / deviations, -1.0, 1.0));
}

// Areas between neighbours: (left + right) / 2 times the distance.
Result<Value> trapezoids(Call& call, bool cumulative) {
  Formula f(call);
  Term y = f.tensor("y");
  if (f.failed()) return f.result(y);
  graph::Builder& g = call.graph();
  if (f.rank(y) == 0) {
    return input_error("trapezoid(): y must have at least one dimension");
  }
  const int dim = KW_TRY(call.dim("dim", y.value.node));
  y = cast(y, graph::float_type(f.dtype(y)));
  if (f.failed()) return f.result(y);
  const auto neighbours = [&](const Term& x, int along) {
    const Dim extent = g.extent(x.value.node, along);
    const Dim fewer = extent.value() > 0 ? extent - Dim(1) : extent;
    const Dim first = min(Dim(1), extent);
    return std::pair(f.node(g.slice(x.value.node, along, first, extent)),
                     f.node(g.slice(x.value.node, along, Dim(0), fewer)));
  };
  const auto [right, left] = neighbours(y, dim);
  Term area = left + right;
  if (call.given("x")) {
    Term x = f.tensor("x");
    if (f.failed()) return f.result(x);
    if (f.rank(x) != 1 && f.rank(x) != f.rank(y)) {
      return input_error("trapezoid(): x must have one dimension or those of y");
    }
    if (f.rank(x) == 1) {
      graph::Shape shape(static_cast<size_t>(f.rank(y)), Dim(1));
      shape[static_cast<size_t>(dim)] = g.extent(x.value.node, 0);
      x = f.node(g.reshape(x.value.node, shape));
      if (f.failed()) return f.result(x);
    }
    const auto [after, before] = neighbours(x, dim);
    area = area * (after - before) / 2.0;
  } else {
    area = area * ((call.given("dx") ? f.number("dx") : 1.0) / 2);
  }
  if (f.failed()) return f.result(area);
  if (cumulative) return f.result(f.node(graph::cumsum(g, area.value.node, dim)));
  return f.result(f.node(graph::sum(g, area.value.node, {dim}, false)));
}

// Slices along a dim whose norm is above the limit are scaled down to it.
Result<Value> renorm(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  double p = f.number("p"), limit = f.number("maxnorm");
  if (f.failed()) return f.result(x);
  if (f.rank(x) < 2) return input_error("renorm: input needs at least 2 dimensions");
  const int dim = KW_TRY(call.dim("dim", x.value.node));
  std::vector<int> others;
  for (int i = 0; i < f.rank(x); ++i) {
    if (i != dim) others.push_back(i);
  }
  Term w = wide(x);
  if (f.failed()) return f.result(w);
  Term norm = f.node(graph::vector_norm(call.graph(), w.value.node, p, others, true));
  return f.result(where(norm > limit, w * (limit / (norm + 1e-7)), w), f.dtype(x));
}

// Powers of each element, one column each.
Result<Value> vander(Call& call) {
  Formula f(call);
  Term x = f.tensor("x");
  bool increasing = f.boolean("increasing");
  if (f.failed()) return f.result(x);
  if (f.rank(x) != 1) return input_error("x must be a one-dimensional tensor.");
  graph::Builder& g = call.graph();
  const Dim columns = call.given("N") ? KW_TRY(call.dim_value("N")) : g.extent(x.value.node, 0);
  if (columns.value() < 0) return input_error("N must be non-negative.");
  const DType type = is_integral(f.dtype(x)) ? DType::Int64 : f.dtype(x);
  Term exponents = f.node(g.iota({columns}, 0, DType::Int64));
  if (!increasing) exponents = Term(columns - Dim(1)) - exponents;
  Term column = f.node(graph::unsqueeze(g, cast(x, type).value.node, 1));
  return f.result(pow(column, cast(exponents, type)), type);
}

Result<Value> cartesian_prod(Call& call) {
  std::vector<NodeId> tensors = KW_TRY(call.tensors("tensors"));
  graph::Builder& g = call.graph();
  if (tensors.empty()) return input_error("cartesian_prod(): expected at least one tensor");
  graph::Shape shape;
  for (NodeId x : tensors) {
    if (g.rank(x) != 1) return input_error("Expect a 1D vector, but got another shape");
    shape.push_back(g.extent(x, 0));
  }
  if (tensors.size() == 1) return tensor_value(tensors[0]);
  std::vector<NodeId> columns;
  for (size_t i = 0; i < tensors.size(); ++i) {
    graph::Shape line(shape.size(), Dim(1));
    line[i] = shape[i];
    NodeId x = KW_TRY(g.reshape(tensors[i], line));
    x = KW_TRY(g.expand(x, shape));
    columns.push_back(KW_TRY(g.reshape(x, {graph::count_of(shape)})));
  }
  return tensor_value(KW_TRY(graph::stack(g, columns, 1)));
}

// NaN sorts last: takes the middle of the values before the NaNs.
Result<Value> nanmedian(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  bool keepdim = f.boolean("keepdim");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  const bool all = !call.given("dim");
  if (all || f.rank(x) == 0) x = f.node(g.reshape(x.value.node, {Dim(-1)}));
  if (f.failed()) return f.result(x);
  const int dim = all ? 0 : KW_TRY(call.dim("dim", x.value.node));
  if (g.extent(x.value.node, dim).value() == 0) {
    return input_error("nanmedian(): Expected reduction dim to have non-zero size.");
  }
  graph::ValueIndex sorted = KW_TRY(graph::sort(g, x.value.node, dim, false));
  Term real = is_integral(f.dtype(x)) ? x == x : ~isnan(x);
  if (f.failed()) return f.result(real);
  Term count = f.node(graph::sum(g, real.value.node, {dim}, true));
  Term middle = apply(Op::FloorDiv, maximum(count - 1, 0), 2);
  if (f.failed()) return f.result(middle);
  NodeId value = KW_TRY(graph::gather(g, sorted.value, dim, middle.value.node));
  NodeId index = KW_TRY(graph::gather(g, sorted.index, dim, middle.value.node));
  if (all) return tensor_value(KW_TRY(g.reshape(value, {})));
  if (!keepdim) {
    value = KW_TRY(graph::squeeze(g, value, {dim}));
    index = KW_TRY(graph::squeeze(g, index, {dim}));
  }
  return values_and_indices(value, index);
}

constexpr char kTrapezoid[] = "y, x=None, *, dx=None, dim=-1";

constexpr OpRow kStatisticsRows[] = {
    {"torch.cov Tensor.cov", "input, *, correction=1, fweights=None, aweights=None", cov},
    {"torch.corrcoef Tensor.corrcoef", "input", corrcoef},
    {"torch.trapezoid torch.trapz", kTrapezoid, [](Call& call) { return trapezoids(call, false); }},
    {"torch.cumulative_trapezoid", kTrapezoid, [](Call& call) { return trapezoids(call, true); }},
    {"torch.renorm Tensor.renorm", "input, p, dim, maxnorm", renorm},
    {"torch.vander", "x, N=None, increasing=False", vander},
    {"torch.linalg.vander", "x, *, N=None, increasing=True", vander},
    {"torch.cartesian_prod", "*tensors", cartesian_prod},
    {"torch.nanmedian Tensor.nanmedian", "input, dim=None, keepdim=False", nanmedian},
};

}  // namespace

std::span<const OpRow> statistics_rows() { return kStatisticsRows; }

}  // namespace kw::frontend
