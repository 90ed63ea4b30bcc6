// Distances and similarities between vectors.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::NodeId;

Result<Value> cosine_similarity(Call& call) {
  NodeId x = KW_TRY(call.tensor("x1"));
  NodeId y = KW_TRY(call.tensor("x2"));
  int64_t dim = KW_TRY(call.integer("dim"));
  graph::Number eps = KW_TRY(call.symbolic("eps"));
  return tensor_value(
      KW_TRY(graph::cosine_similarity(call.graph(), x, y, static_cast<int>(dim), eps)));
}

Result<Value> pairwise_distance(Call& call) {
  NodeId x = KW_TRY(call.tensor("x1"));
  NodeId y = KW_TRY(call.tensor("x2"));
  double p = KW_TRY(call.number("p"));
  graph::Number eps = KW_TRY(call.symbolic("eps"));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  return tensor_value(KW_TRY(graph::pairwise_distance(call.graph(), x, y, p, eps, keepdim)));
}

constexpr OpRow kDistanceRows[] = {
    {"F.cosine_similarity torch.cosine_similarity", "x1, x2, dim=1, eps=1e-08", cosine_similarity},
    {"F.pairwise_distance torch.pairwise_distance", "x1, x2, p=2.0, eps=1e-06, keepdim=False",
     pairwise_distance},
};

}  // namespace

std::span<const OpRow> distance_rows() { return kDistanceRows; }

}  // namespace kw::frontend
