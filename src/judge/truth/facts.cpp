// The problem: exact results must be compared exactly, and errors should be tracked only where they
// exist. Exactness, formats and tracks follow from the graph alone, node by node, before any value
// is computed. An exact node needs no error arrays, which saves memory and time. The alternative,
// tracking errors for every node and looking for zeros later, costs a full pass. The cost is one
// rule per kind of op; the op table says which ops are exact.
#include "truth/facts.h"

#include <algorithm>
#include <cmath>

#include "graph/written_casts.h"
#include "truth/errors.h"
#include "truth/pointwise.h"
#include "truth/scalar.h"

namespace kw::truth {

bool holds(DType to, DType from) {
  if (to == from || to == DType::Fp64) return true;
  if (is_integer(from)) return tensor::dtype_size(from) == 1 && to != DType::E8m0 && !is_half(to);
  if (to == DType::Fp32) return from != DType::Fp64;
  if (to == DType::Fp16) return from == DType::Fp8e4m3 || from == DType::Fp8e5m2;
  if (to == DType::Bf16)
    return from == DType::Fp8e4m3 || from == DType::Fp8e5m2 || from == DType::E8m0;
  return false;
}

namespace {

void mark_needed(const Graph& graph, std::vector<NodeFacts>& facts) {
  for (const graph::NamedNode& output : graph.outputs)
    facts[static_cast<size_t>(output.node)].needed = true;
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    if (!facts[id].needed) continue;
    for (const graph::NodeId input : graph.nodes[id].inputs)
      facts[static_cast<size_t>(input)].needed = true;
  }
}

// Returns the smallest known format that holds the values of both.
DType joined(DType a, DType b) {
  if (holds(a, b)) return a;
  if (holds(b, a)) return b;
  return holds(DType::Fp32, a) && holds(DType::Fp32, b) ? DType::Fp32 : DType::Fp64;
}

DType constant_grid(const Node& node) {
  const double v = node.attrs.number;
  for (const DType type : {DType::Fp8e4m3, DType::Fp16, DType::Bf16, DType::Fp32}) {
    const double r = rounded(type, v);
    if (r == v || (std::isnan(r) && std::isnan(v))) return type;
  }
  return DType::Fp64;
}

void constant_facts(const Node& node, NodeFacts& out) {
  out.exactness = Exactness::Exact;
  if (is_integer(node.dtype)) return;
  out.grid = constant_grid(node);
  // Kernels of half types receive numbers in fp32.
  if (node.dtype == DType::Fp64 || holds(DType::Fp32, out.grid)) return;
  out.exactness = Exactness::Open;
  out.tracks.a = true;
}

void cast_exactness(const Node& node, const Node& from, const NodeFacts& in, NodeFacts& out) {
  if (is_integer(node.dtype)) {
    out.exactness = in.exactness == Exactness::Exact ? Exactness::Exact : Exactness::Open;
    out.grid = node.dtype;
    return;
  }
  if (in.exactness == Exactness::Exact && holds(node.dtype, in.grid)) {
    out.exactness = Exactness::Exact;
    out.grid = in.grid;
  } else if (out.snaps) {
    out.exactness = in.exactness == Exactness::Exact ? Exactness::Exact : Exactness::Open;
    out.grid = node.dtype;
  } else if (in.exactness == Exactness::Exact) {
    out.exactness = Exactness::Rounded;
  } else if (in.exactness == Exactness::Rounded && node.dtype == from.dtype) {
    out.exactness = Exactness::Rounded;
  }
}

// Ops that commute with rounding: they move values, compare their order, or change signs.
bool keeps_rounding(Op op) {
  switch (op) {
    case Op::Neg:
    case Op::Abs:
    case Op::Maximum:
    case Op::Minimum:
    case Op::Fmax:
    case Op::Fmin:
    case Op::Where:
    case Op::Max:
    case Op::Min:
    case Op::CumMax:
    case Op::CumMin:
    case Op::SortValues:
    case Op::TopKValues:
      return true;
    default:
      return graph::op_info(op).kind == OpKind::Movement;
  }
}

bool op_is_exact(const Node& node) {
  if (is_integer(node.dtype)) return true;
  if (node.op == Op::Scatter)
    return node.attrs.scatter != graph::ScatterMode::Add &&
           node.attrs.scatter != graph::ScatterMode::Multiply;
  return graph::op_info(node.op).exact;
}

void exactness_of(const Graph& graph, const Node& node, const std::vector<NodeFacts>& facts,
                  NodeFacts& out) {
  if (node.op == Op::Constant) return;
  if (node.op == Op::Input || node.op == Op::Iota || node.op == Op::Philox) {
    out.exactness = Exactness::Exact;
    out.grid = node.dtype;
    return;
  }
  if (node.op == Op::Cast)
    return cast_exactness(node, graph[node.inputs[0]], facts[static_cast<size_t>(node.inputs[0])],
                          out);
  if (!op_is_exact(node)) return;
  Exactness least = Exactness::Exact;
  bool first = true;
  for (const graph::NodeId id : node.inputs) {
    const NodeFacts& in = facts[static_cast<size_t>(id)];
    least = std::min(least, in.exactness);
    if (is_integer(graph[id].dtype) != is_integer(node.dtype)) continue;
    out.grid = first ? in.grid : joined(out.grid, in.grid);
    first = false;
  }
  if (least == Exactness::Rounded && !keeps_rounding(node.op)) least = Exactness::Open;
  if (is_integer(node.dtype) || first) out.grid = node.dtype;
  if (node.op == Op::Pad && !is_integer(node.dtype)) out.grid = joined(out.grid, node.dtype);
  out.exactness = least;
}

Tracks tracks_of(const Graph& graph, const Node& node, const std::vector<NodeFacts>& facts,
                 bool snaps, bool tf32) {
  if (snaps) return {};  // what its operand may be becomes a jump
  std::vector<Tracks> in;
  for (const graph::NodeId id : node.inputs) in.push_back(facts[static_cast<size_t>(id)].tracks);
  if (graph::op_info(node.op).kind == OpKind::Pointwise) {
    const DType from = graph[node.inputs.back()].dtype;
    return point_tracks(node.op, from, node.dtype, in);
  }
  Tracks out;
  out.integer = is_integer(node.dtype);
  if (out.integer) return out;
  for (const Tracks& x : in) {
    out.a |= x.a;
    out.h |= x.h;
  }
  if (!op_is_exact(node)) {
    out.a = true;
    out.h |= is_half(node.dtype) || (tf32 && node.op == Op::MatMul && node.dtype == DType::Fp32);
  }
  return out;
}

double terms_of(const Graph& graph, const Node& node, const std::vector<NodeFacts>& facts) {
  if (is_integer(node.dtype) || node.inputs.empty()) return 1;
  const NodeFacts& in = facts[static_cast<size_t>(node.inputs[0])];
  if (facts[static_cast<size_t>(&node - graph.nodes.data())].snaps) return 1;
  if (is_view_op(node.op) || node.op == Op::Cast) return in.terms;
  if (node.op == Op::MatMul) return static_cast<double>(in.shape.back());
  if (node.op == Op::Sum) {
    NodeId from = node.inputs[0];
    while (is_view_op(graph[from].op) || graph[from].op == Op::Cast) {
      if (facts[static_cast<size_t>(from)].snaps) break;
      from = graph[from].inputs[0];
    }
    double terms = graph[from].op == Op::Sum ? in.terms : 1;  // a sum of sums is one sum
    for (const int dim : node.attrs.dims)
      terms *= static_cast<double>(in.shape[static_cast<size_t>(dim)]);
    return terms;
  }
  if (node.op != Op::Add && node.op != Op::Sub) return 1;
  return std::max(in.terms, facts[static_cast<size_t>(node.inputs[1])].terms);
}

}  // namespace

std::vector<NodeFacts> gather_facts(const Graph& graph, Mode mode, bool tf32) {
  std::vector<NodeFacts> facts(graph.nodes.size());
  mark_needed(graph, facts);
  const std::vector<bool> snaps = graph::snapping_casts(graph);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    NodeFacts& out = facts[id];
    out.snaps = snaps[id];
    out.shape = graph::values_of(node.shape);
    out.tracks = tracks_of(graph, node, facts, out.snaps, tf32);
    if (node.op == Op::Constant) constant_facts(node, out);
    exactness_of(graph, node, facts, out);
    out.terms = terms_of(graph, node, facts);
    if (mode != Mode::Truth || out.exactness == Exactness::Exact)
      out.tracks.a = out.tracks.h = false;
  }
  return facts;
}

bool needs_half_pass(const Graph& graph, const std::vector<NodeFacts>& facts) {
  const std::vector<bool> computed = graph::nodes_computed_with(graph);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    const bool sums = node.op == Op::Sum || node.op == Op::CumSum || node.op == Op::MatMul ||
                      node.op == Op::Scatter || node.op == Op::Fold;
    if (!facts[id].needed) continue;
    if (facts[id].tracks.h && graph::is_written_narrowing(graph, node) && computed[id]) return true;
    if (!sums) continue;
    for (const graph::NodeId in : node.inputs) {
      if (facts[static_cast<size_t>(in)].tracks.h) return true;
    }
  }
  return false;
}

}  // namespace kw::truth
