// Scans along one dim.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

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

constexpr OpRow kScanRows[] = {
    {"torch.cumsum Tensor.cumsum", "input, dim, *, dtype=None", cumulating<graph::cumsum>},
    {"torch.cumprod Tensor.cumprod", "input, dim, *, dtype=None", cumulating<graph::cumprod>},
    {"torch.cummax Tensor.cummax", "input, dim", running_extremum<graph::cummax>},
    {"torch.cummin Tensor.cummin", "input, dim", running_extremum<graph::cummin>},
    {"torch.logcumsumexp Tensor.logcumsumexp", "input, dim", logcumsumexp},
};

}  // namespace

std::span<const OpRow> scan_rows() { return kScanRows; }

}  // namespace kw::frontend
