// Products of matrices and vectors; einsum is in ops_einsum.cpp. All become the graph's matmul with
// reshapes around it, because code generation has designs for that operator.
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_matmul.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Operand;

using Product = Result<NodeId> (*)(graph::Builder&, NodeId, NodeId);
template <Product product>
Result<Value> of_two(Call& call, const char* first, const char* second) {
  NodeId a = KW_TRY(call.tensor(first));
  NodeId b = KW_TRY(call.tensor(second));
  return tensor_value(KW_TRY(product(call.graph(), a, b)));
}

Result<NodeId> matmul(graph::Builder& g, NodeId a, NodeId b) { return g.matmul(a, b); }

// The last dims of both are summed over.
Result<NodeId> inner(graph::Builder& g, NodeId a, NodeId b) {
  if (g.rank(a) == 0 || g.rank(b) == 0) {
    return g.binary(graph::Op::Mul, Operand::tensor(a), Operand::tensor(b));
  }
  if (!(g.extent(a, g.rank(a) - 1) == g.extent(b, g.rank(b) - 1))) {
    return input_error("inner() the last dimension must match on both input tensors");
  }
  graph::Shape shape(g[a].shape.begin(), g[a].shape.end() - 1);
  shape.insert(shape.end(), g[b].shape.begin(), g[b].shape.end() - 1);
  const Dim depth = g.extent(a, g.rank(a) - 1);
  const Dim left = floor_div(graph::count_of(g[a].shape), max(depth, Dim(1)));
  const Dim right = floor_div(graph::count_of(g[b].shape), max(depth, Dim(1)));
  if (depth.value() == 0) return filled(g, shape, g.dtype(a), Operand::of(0));
  NodeId x = KW_TRY(g.reshape(a, {left, depth}));
  NodeId y = KW_TRY(g.reshape(b, {right, depth}));
  NodeId turned = KW_TRY(g.permute(y, {1, 0}));
  NodeId product = KW_TRY(g.matmul(x, turned));
  return g.reshape(product, shape);
}

Result<Value> linear(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  return tensor_value(KW_TRY(graph::linear(call.graph(), x, weight, bias)));
}

Result<Value> bilinear(Call& call) {
  NodeId x = KW_TRY(call.tensor("input1"));
  NodeId y = KW_TRY(call.tensor("input2"));
  NodeId weight = KW_TRY(call.tensor("weight"));
  std::optional<NodeId> bias = KW_TRY(maybe_tensor(call, "bias"));
  return tensor_value(KW_TRY(graph::bilinear(call.graph(), x, y, weight, bias)));
}

using Added = Result<NodeId> (*)(graph::Builder&, NodeId, NodeId, NodeId, const graph::Scales&);
template <Added product>
Result<Value> added(Call& call, const char* first, const char* second) {
  NodeId input = KW_TRY(call.tensor("input"));
  NodeId a = KW_TRY(call.tensor(first));
  NodeId b = KW_TRY(call.tensor(second));
  graph::Scales scales;
  scales.beta = KW_TRY(call.operand("beta"));
  scales.alpha = KW_TRY(call.operand("alpha"));
  if (scales.beta.is_tensor() || scales.alpha.is_tensor()) {
    return input_error("{}(): arguments 'beta' and 'alpha' must be Number", call.function());
  }
  return tensor_value(KW_TRY(product(call.graph(), input, a, b, scales)));
}

constexpr OpRow kMatmulRows[] = {
    {"torch.matmul Tensor.matmul torch.linalg.matmul operator.matmul", "input, other",
     [](Call& call) { return of_two<matmul>(call, "input", "other"); }},
    {"torch.mm Tensor.mm", "input, mat2",
     [](Call& call) { return of_two<graph::mm>(call, "input", "mat2"); }},
    {"torch.bmm Tensor.bmm", "input, mat2",
     [](Call& call) { return of_two<graph::bmm>(call, "input", "mat2"); }},
    {"torch.mv Tensor.mv", "input, vec",
     [](Call& call) { return of_two<graph::mv>(call, "input", "vec"); }},
    {"torch.dot Tensor.dot", "input, tensor",
     [](Call& call) { return of_two<graph::dot>(call, "input", "tensor"); }},
    {"torch.vdot Tensor.vdot", "input, other",
     [](Call& call) { return of_two<graph::dot>(call, "input", "other"); }},
    {"torch.inner Tensor.inner", "input, other",
     [](Call& call) { return of_two<inner>(call, "input", "other"); }},
    {"torch.outer Tensor.outer torch.ger Tensor.ger", "input, vec2",
     [](Call& call) { return of_two<graph::outer>(call, "input", "vec2"); }},
    {"F.linear", "input, weight, bias=None", linear},
    {"F.bilinear torch.bilinear", "input1, input2, weight, bias=None", bilinear},
    {"torch.addmm Tensor.addmm", "input, mat1, mat2, *, beta=1, alpha=1",
     [](Call& call) { return added<graph::addmm>(call, "mat1", "mat2"); }},
    {"torch.addmv Tensor.addmv", "input, mat, vec, *, beta=1, alpha=1",
     [](Call& call) { return added<graph::addmv>(call, "mat", "vec"); }},
    {"torch.baddbmm Tensor.baddbmm", "input, batch1, batch2, *, beta=1, alpha=1",
     [](Call& call) { return added<graph::baddbmm>(call, "batch1", "batch2"); }},
    {"torch.addbmm Tensor.addbmm", "input, batch1, batch2, *, beta=1, alpha=1",
     [](Call& call) { return added<graph::addbmm>(call, "batch1", "batch2"); }},
    {"torch.addr Tensor.addr", "input, vec1, vec2, *, beta=1, alpha=1",
     [](Call& call) { return added<graph::addr>(call, "vec1", "vec2"); }},
};

}  // namespace

std::span<const OpRow> matmul_rows() { return kMatmulRows; }

}  // namespace kw::frontend
