// F.glu, whose halves are a condition on an extent. Other activations are in
// python/library/activation.py.
#include <fmt/core.h>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::Dim;

Result<Value> glu(Call& call) {
  Formula f(call);
  Term x = f.floating("input");
  if (f.failed()) return f.result(x);
  graph::Builder& g = f.graph();
  if (f.rank(x) == 0) return input_error("glu does not support 0-dimensional tensors");
  int dim = KW_TRY(call.dim("dim", x.value.node));
  const Dim extent = g[x.value.node].shape[static_cast<size_t>(dim)];
  KW_TRY(need_multiple(g, extent, 2,
                       fmt::format("Halving dimension must be even, but dimension {} is size {}",
                                   dim, extent.value())));
  const Dim half = floor_div(extent, Dim(2));
  Term a = f.node(g.slice(x.value.node, dim, Dim(0), half, 1));
  Term b = f.node(g.slice(x.value.node, dim, half, half + half, 1));
  return f.result(wide(a) * sigmoid(wide(b)), f.dtype(x));
}

constexpr OpRow kActivationRows[] = {
    {"F.glu", "input, dim=-1", glu},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationRows; }

}  // namespace kw::frontend
