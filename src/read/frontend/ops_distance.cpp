// Distances and similarities between vectors.
#include <fmt/core.h>

#include <cmath>

#include "frontend/numbers.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

namespace kw::frontend {
namespace {

using graph::NodeId;

Result<Value> cosine_similarity(Call& call) {
  NodeId x = KW_TRY(call.tensor("x1"));
  NodeId y = KW_TRY(call.tensor("x2"));
  int64_t dim = KW_TRY(call.integer("dim"));
  double eps = KW_TRY(call.number("eps"));
  return tensor_value(
      KW_TRY(graph::cosine_similarity(call.graph(), x, y, static_cast<int>(dim), eps)));
}

Result<Value> pairwise_distance(Call& call) {
  NodeId x = KW_TRY(call.tensor("x1"));
  NodeId y = KW_TRY(call.tensor("x2"));
  double p = KW_TRY(call.number("p"));
  double eps = KW_TRY(call.number("eps"));
  bool keepdim = KW_TRY(call.boolean("keepdim"));
  return tensor_value(KW_TRY(graph::pairwise_distance(call.graph(), x, y, p, eps, keepdim)));
}

constexpr int64_t kFewRows = 25;  // PyTorch uses differences up to this many rows, a product beyond

/// Whether PyTorch uses the product |x|^2 - 2 x y + |y|^2, which is less exact than differences.
Result<bool> multiplies(Call& call, NodeId x, NodeId y) {
  const std::string mode = KW_TRY(call.text("compute_mode"));
  if (mode == "use_mm_for_euclid_dist") return true;
  if (mode == "donot_use_mm_for_euclid_dist") return false;
  if (mode != "use_mm_for_euclid_dist_if_necessary")
    return input_error(fmt::format("{} is not a valid value for compute_mode", mode));
  graph::Builder& g = call.graph();
  return !at_most(g, g.extent(x, g.rank(x) - 2), graph::Dim(kFewRows)) ||
         !at_most(g, g.extent(y, g.rank(y) - 2), graph::Dim(kFewRows));
}

Result<Value> euclid_by_product(Formula& f, const Term& x, const Term& y) {
  const Term rows = reduce(graph::Op::Sum, x * x, {f.rank(x) - 1});
  const Term columns = reduce(graph::Op::Sum, y * y, {f.rank(y) - 1});
  if (f.failed()) return f.result(rows);
  graph::Builder& g = f.graph();
  const Term across = f.node(graph::transpose(g, columns.value.node, -1, -2));
  const NodeId turned = KW_TRY(graph::transpose(g, y.value.node, -1, -2));
  const Term product = f.node(g.matmul(x.value.node, turned));
  return f.result(sqrt(maximum(rows - 2 * product + across, 0)));
}

// The distance of every row of x1 to every row of x2.
Result<Value> cdist(Call& call) {
  Formula f(call);
  Term x = f.floating("x1");
  Term y = f.floating("x2");
  double p = f.number("p");
  if (f.failed()) return f.result(x);
  graph::Builder& g = call.graph();
  if (f.rank(x) < 2 || f.rank(y) < 2) {
    return input_error("cdist only supports at least 2D tensors");
  }
  const auto& last_x = g.extent(x.value.node, f.rank(x) - 1);
  const auto& last_y = g.extent(y.value.node, f.rank(y) - 1);
  if (!(last_x == last_y)) {
    return input_error(fmt::format("X1 and X2 must have the same number of columns. X1: {} X2: {}",
                                   last_x.value(), last_y.value()));
  }
  if (p < 0) return input_error("cdist only supports non-negative p values");
  if (p == 2 && KW_TRY(multiplies(call, x.value.node, y.value.node)))
    return euclid_by_product(f, x, y);
  Term rows = f.node(graph::unsqueeze(g, x.value.node, f.rank(x) - 1));
  Term columns = f.node(graph::unsqueeze(g, y.value.node, f.rank(y) - 2));
  Term gap = rows - columns;
  if (f.failed()) return f.result(gap);
  return f.result(f.node(graph::vector_norm(g, gap.value.node, p, {f.rank(gap) - 1}, false)));
}

constexpr OpRow kDistanceRows[] = {
    {"F.cosine_similarity torch.cosine_similarity", "x1, x2, dim=1, eps=1e-08", cosine_similarity},
    {"F.pairwise_distance torch.pairwise_distance", "x1, x2, p=2.0, eps=1e-06, keepdim=False",
     pairwise_distance},
    {"torch.cdist", "x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'", cdist},
};

}  // namespace

std::span<const OpRow> distance_rows() { return kDistanceRows; }

}  // namespace kw::frontend
