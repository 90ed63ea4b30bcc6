// Products of matrices and vectors; einsum is in ops_einsum.cpp. All become the graph's matmul with
// reshapes around it, because code generation has designs for that operator. kron and cross are
// elementwise instead, since a matmul would do useless work. multi_dot multiplies from left to
// right, while PyTorch chooses the cheapest order; only roundings differ. matrix_power is unrolled
// and takes powers up to 64.
#include <fmt/core.h>

#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"
#include "graph/compose_index.h"
#include "graph/compose_matmul.h"
#include "graph/compose_move.h"
#include "graph/compose_reduce.h"

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
    return input_error(
        fmt::format("{}(): arguments 'beta' and 'alpha' must be Number", call.function()));
  }
  return tensor_value(KW_TRY(product(call.graph(), input, a, b, scales)));
}

Result<Value> multi_dot(Call& call) {
  std::vector<NodeId> tensors = KW_TRY(call.tensors("tensors"));
  if (tensors.size() < 2) {
    return input_error("multi_dot(): expected at least 2 tensors");
  }
  NodeId product = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    product = KW_TRY(call.graph().matmul(product, tensors[i]));
  }
  return tensor_value(product);
}

Result<Value> matrix_power(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  int64_t n = KW_TRY(call.integer("n"));
  if (n < 1 || n > 64) {
    return input_error("matrix_power(): powers from 1 to 64 are supported");
  }
  NodeId product = x;
  for (int64_t i = 1; i < n; ++i) product = KW_TRY(call.graph().matmul(product, x));
  return tensor_value(product);
}

// Every block of the result is one element of the first times the whole second.
Result<Value> kron(Call& call) {
  Formula f(call);
  Term a = f.tensor("input");
  Term b = f.tensor("other");
  if (f.failed()) return f.result(a);
  graph::Builder& g = call.graph();
  const size_t rank = static_cast<size_t>(std::max(f.rank(a), f.rank(b)));
  auto padded = [&](const Term& x) {
    graph::Shape shape(rank - g[x.value.node].shape.size(), Dim(1));
    shape.insert(shape.end(), g[x.value.node].shape.begin(), g[x.value.node].shape.end());
    return shape;
  };
  const graph::Shape left = padded(a), right = padded(b);
  graph::Shape left_wide, right_wide, result;
  for (size_t i = 0; i < rank; ++i) {
    left_wide.insert(left_wide.end(), {left[i], Dim(1)});
    right_wide.insert(right_wide.end(), {Dim(1), right[i]});
    result.push_back(left[i] * right[i]);
  }
  Term product =
      f.node(g.reshape(a.value.node, left_wide)) * f.node(g.reshape(b.value.node, right_wide));
  if (f.failed()) return f.result(product);
  return f.result(f.node(g.reshape(product.value.node, result)));
}

Result<Value> cross(Call& call) {
  Formula f(call);
  Term a = f.tensor("input");
  Term b = f.tensor("other");
  if (f.failed()) return f.result(a);
  graph::Builder& g = call.graph();
  const NodeId nodes[] = {a.value.node, b.value.node};
  graph::Shape shape = KW_TRY(g.broadcast(nodes));
  a = f.node(g.expand(a.value.node, shape));
  b = f.node(g.expand(b.value.node, shape));
  int dim = -1;
  if (call.given("dim")) {
    dim = KW_TRY(call.dim("dim", a.value.node));
  } else {
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i].value() == 3) dim = static_cast<int>(i);
    }
  }
  if (dim < 0 || shape.empty() || shape[static_cast<size_t>(dim)].value() != 3) {
    return input_error("linalg.cross: inputs dimension must have length 3");
  }
  Term ahead_a = f.node(graph::roll(g, a.value.node, {Dim(-1)}, {dim}));
  Term ahead_b = f.node(graph::roll(g, b.value.node, {Dim(-1)}, {dim}));
  Term behind_a = f.node(graph::roll(g, a.value.node, {Dim(1)}, {dim}));
  Term behind_b = f.node(graph::roll(g, b.value.node, {Dim(1)}, {dim}));
  const tensor::DType type = f.type_of({a, b});
  const tensor::DType work = graph::opmath(type);
  Term plus = cast(ahead_a, work) * cast(behind_b, work);
  return f.result(plus - cast(behind_a, work) * cast(ahead_b, work), type);
}

Result<Value> trace(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (call.graph().rank(x) != 2) return input_error("trace: expected a matrix");
  NodeId line = KW_TRY(graph::diagonal(call.graph(), x, Dim(0), 0, 1));
  return tensor_value(KW_TRY(graph::sum(call.graph(), line, {}, false)));
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
    {"torch.linalg.multi_dot", "tensors", multi_dot},
    {"torch.chain_matmul", "*tensors", multi_dot},
    {"torch.matrix_power Tensor.matrix_power torch.linalg.matrix_power", "input, n", matrix_power},
    {"torch.kron Tensor.kron", "input, other", kron},
    {"torch.cross Tensor.cross", "input, other, dim=None", cross},
    {"torch.linalg.cross", "input, other, *, dim=-1", cross},
    {"torch.trace Tensor.trace", "input", trace},
};

}  // namespace

std::span<const OpRow> matmul_rows() { return kMatmulRows; }

}  // namespace kw::frontend
