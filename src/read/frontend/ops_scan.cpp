// Scans along one dim.
#include <fmt/core.h>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using tensor::DType;

using Cumulating = Result<NodeId> (*)(graph::Builder&, NodeId, int, graph::MaybeType);
template <Cumulating scan>
Result<Value> cumulating(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  std::optional<DType> dtype = KW_TRY(call.dtype("dtype"));
  if (dtype == DType::Bool) return not_implemented(call, DType::Bool);
  return tensor_value(KW_TRY(scan(call.graph(), x, dim, dtype)));
}

using Extreme = Result<graph::ValueIndex> (*)(graph::Builder&, NodeId, int);
template <Extreme scan>
Result<Value> running_extremum(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  graph::ValueIndex both = KW_TRY(scan(call.graph(), x, dim));
  return values_and_indices(both.value, both.index);
}

Result<Value> logcumsumexp(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  return tensor_value(KW_TRY(graph::logcumsumexp(call.graph(), x, dim)));
}

// Differences of neighbours, n times.
Result<Value> diff(Call& call) {
  Formula f(call);
  Term x = f.tensor("input");
  int64_t n = f.integer("n");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  if (f.rank(x) == 0) return input_error("diff expects input to be at least one-dimensional");
  if (n < 0) {
    return input_error(fmt::format("order must be non-negative but got {}", n));
  }
  int dim = KW_TRY(call.dim("dim", x.value.node));
  std::vector<NodeId> parts{x.value.node};
  if (call.given("prepend")) parts.insert(parts.begin(), KW_TRY(call.tensor("prepend")));
  if (call.given("append")) parts.push_back(KW_TRY(call.tensor("append")));
  if (parts.size() > 1) x = f.node(graph::cat(g, parts, dim));
  for (int64_t i = 0; i < n && !f.failed(); ++i) {
    const Dim extent = g.extent(x.value.node, dim);
    if (extent.value() == 0) break;
    Term later = f.node(g.slice(x.value.node, dim, Dim(1), extent));
    Term earlier = f.node(g.slice(x.value.node, dim, Dim(0), extent - Dim(1)));
    if (f.failed()) break;
    x = f.dtype(x) == DType::Bool ? later != earlier : later - earlier;
  }
  return f.result(x);
}

constexpr OpRow kScanRows[] = {
    {"torch.cumsum Tensor.cumsum", "input, dim, *, dtype=None", cumulating<graph::cumsum>},
    {"torch.cumprod Tensor.cumprod", "input, dim, *, dtype=None", cumulating<graph::cumprod>},
    {"torch.cummax Tensor.cummax", "input, dim", running_extremum<graph::cummax>},
    {"torch.cummin Tensor.cummin", "input, dim", running_extremum<graph::cummin>},
    {"torch.logcumsumexp Tensor.logcumsumexp", "input, dim", logcumsumexp},
    {"torch.diff Tensor.diff", "input, n=1, dim=-1, prepend=None, append=None", diff},
};

}  // namespace

std::span<const OpRow> scan_rows() { return kScanRows; }

}  // namespace kw::frontend
