// Sorting and choosing along one dim. Quantiles and searches are in python/library/selection.py.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_scan.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

Value both(const graph::ValueIndex& pair) { return values_and_indices(pair.value, pair.index); }

Result<Value> sort(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  bool descending = KW_TRY(call.boolean("descending"));
  bool stable = KW_TRY(call.boolean("stable"));
  return both(KW_TRY(graph::sort(call.graph(), x, dim, descending, stable)));
}

Result<Value> argsort(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int dim = KW_TRY(call.dim("dim", x));
  bool descending = KW_TRY(call.boolean("descending"));
  bool stable = KW_TRY(call.boolean("stable"));
  return tensor_value(KW_TRY(graph::argsort(call.graph(), x, dim, descending, stable)));
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

constexpr OpRow kSelectionRows[] = {
    {"torch.sort Tensor.sort", "input, dim=-1, descending=False, *, stable=False", sort},
    {"torch.argsort Tensor.argsort", "input, dim=-1, descending=False, *, stable=False", argsort},
    {"torch.topk Tensor.topk", "input, k, dim=-1, largest=True, sorted=True", topk},
    {"torch.kthvalue Tensor.kthvalue", "input, k, dim=-1, keepdim=False", kthvalue},
    {"torch.median Tensor.median", "input, dim=None, keepdim=False", median},
};

}  // namespace

std::span<const OpRow> selection_rows() { return kSelectionRows; }

}  // namespace kw::frontend
