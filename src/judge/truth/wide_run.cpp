// The problem: a few elements of an output need numbers that fp64 cannot hold. They are computed
// one by one, from the output back to the inputs; a result that several elements share, such as the
// sum of a row, is kept. The alternative, all nodes in wide numbers, would take a hundred times the
// time and six times the memory of the fp64 run. The cost is a map per shared node, and a limit of
// work; elements beyond it keep an infinite bound.
#include "truth/wide_run.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/contains.h"
#include "ports/bound.h"
#include "tensor/host_tensor.h"
#include "truth/facts.h"
#include "truth/scalar.h"
#include "truth/view.h"
#include "truth/wide_ops.h"

namespace kw::truth {

using ports::Truth;
using tensor::HostTensor;

namespace {

constexpr int64_t kMostSteps = int64_t{1} << 25;  // evaluations of ops

class WideRun {
 public:
  WideRun(const Graph& graph, const std::vector<HostTensor>& inputs,
          const ports::TruthOptions& options)
      : graph_(graph),
        inputs_(inputs),
        facts_(gather_facts(graph, Mode::Truth, options.allow_tf32)),
        plans_(graph.nodes.size()) {
    std::vector<int> readers(graph.nodes.size(), 0);
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      if (!facts_[id].needed) continue;
      for (const NodeId in : graph.nodes[id].inputs) ++readers[static_cast<size_t>(in)];
    }
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      if (!facts_[id].needed) continue;
      prepare(static_cast<NodeId>(id), options.flush);
      const OpKind kind = graph::op_info(graph.nodes[id].op).kind;
      const bool heavy = kind == OpKind::Reduction || kind == OpKind::Contraction;
      const bool leaf = graph.nodes[id].inputs.empty();
      plans_[id].kept = heavy || (readers[id] > 1 && !leaf);
    }
  }

  bool tired() const { return steps_ > kMostSteps; }

  WideValue at(NodeId node, int64_t index) {
    NodePlan& plan = plans_[static_cast<size_t>(node)];
    if (!plan.kept) return compute(node, index);
    const auto known = plan.values.find(index);
    if (known != plan.values.end()) return known->second;
    const WideValue value = compute(node, index);
    plan.values.emplace(index, value);
    return value;
  }

 private:
  struct NodePlan {
    WideOp op;
    std::optional<View> view;   // of a view op: the addresses in its operand
    std::vector<View> reduced;  // of a reduction: the kept dims, and the reduced ones
    bool kept = false;
    std::unordered_map<int64_t, WideValue> values;
  };

  const Extents& shape_of(NodeId node) const { return facts_[static_cast<size_t>(node)].shape; }

  void prepare(NodeId node, bool flush) {
    const Node& n = graph_[node];
    NodePlan& plan = plans_[static_cast<size_t>(node)];
    plan.op.op = n.op;
    plan.op.to = n.dtype;
    if (n.inputs.empty()) return;
    plan.op.from = graph_[n.inputs.back()].dtype;
    plan.op.same = n.inputs.size() == 2 && n.inputs[0] == n.inputs[1];
    plan.op.snaps = facts_[static_cast<size_t>(node)].snaps;
    if (tensor::is_float(n.dtype)) plan.op.rounding = rounding_of(n.dtype, flush);
    plan.op.errors = op_errors(n.op);
    const bool narrows =
        n.op == Op::Cast && tensor::is_float(plan.op.from) && plan.op.from != n.dtype;
    plan.op.rounds_half = n.op == Op::Cast ? narrows : !graph::op_info(n.op).exact;
    if (narrows && plan.op.from == DType::Fp64) plan.op.errors.relative = 1;
    if (is_view_op(n.op) && n.op != Op::Reshape) {
      const auto layout = view_layout(n, layout_of(dense_view(shape_of(n.inputs[0]))));
      if (layout) plan.view = flat_view(*layout, {});
    }
    if (n.op == Op::Sum || n.op == Op::Max || n.op == Op::Min)
      plan.reduced = split_dims(n, shape_of(n.inputs[0]));
  }

  static std::vector<View> split_dims(const Node& n, const Extents& shape) {
    const View dense = dense_view(shape);
    std::vector<View> parts(2);
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool gone = contains(n.attrs.dims, static_cast<int>(d));
      parts[gone ? 1 : 0].shape.push_back(shape[d]);
      parts[gone ? 1 : 0].strides.push_back(dense.strides[d]);
    }
    return parts;
  }

  static int64_t address(const View& view, int64_t index) {
    int64_t address = view.offset;
    for (size_t d = view.shape.size(); d-- > 0; index /= view.shape[d])
      address += index % view.shape[d] * view.strides[d];
    return address;
  }

  WideValue compute(NodeId node, int64_t index) {
    const Node& n = graph_[node];
    const NodePlan& plan = plans_[static_cast<size_t>(node)];
    if (++steps_ > kMostSteps) return unknown();
    switch (n.op) {
      case Op::Input:
        return {Wide(tensor::get_element(inputs_[static_cast<size_t>(n.attrs.integer)], index)),
                {},
                {}};
      case Op::Constant:
        return constant(n, facts_[static_cast<size_t>(node)]);
      case Op::Reshape:
        return at(n.inputs[0], index);
      case Op::Sum:
      case Op::Max:
      case Op::Min:
        return reduced(n, plan, index);
      case Op::MatMul:
        return product(n, plan, index);
      case Op::Where: {
        const WideValue chosen = at(n.inputs[0], index);
        if (!is_known(chosen)) return unknown();
        return at(n.inputs[chosen.t.zero() ? 2 : 1], index);
      }
      default:
        break;
    }
    if (is_view_op(n.op))
      return plan.view ? at(n.inputs[0], address(*plan.view, index)) : unknown();
    if (graph::op_info(n.op).kind != OpKind::Pointwise) return unknown();
    const bool integers = !tensor::is_float(plan.op.from) && !tensor::is_float(n.dtype);
    if (integers && n.op != Op::Cast) return whole(n, plan, index);
    const WideValue x = at(n.inputs[0], index);
    return n.inputs.size() == 1 ? wide_unary(plan.op, x)
                                : wide_binary(plan.op, x, at(n.inputs[1], index));
  }

  static WideValue constant(const Node& n, const NodeFacts& facts) {
    if (!tensor::is_float(n.dtype)) return {Wide(to_double(n.attrs.integer, n.dtype)), {}, {}};
    const double error = facts.tracks.a ? ports::bound_constants().unit * n.attrs.number : 0;
    return {Wide(n.attrs.number), Wide(std::fabs(error)), {}};
  }

  // Comparisons and arithmetic of integers.
  WideValue whole(const Node& n, const NodePlan& plan, int64_t index) {
    const bool one = n.inputs.size() == 1;
    const WideValue first = at(n.inputs[0], index), last = one ? first : at(n.inputs[1], index);
    if (!is_whole(first) || !is_whole(last)) return unknown();
    const auto x = static_cast<int64_t>(first.t.value()), z = static_cast<int64_t>(last.t.value());
    if (n.op >= Op::Eq && n.op <= Op::Ge)
      return {Wide(compare(n.op, x, z, plan.op.from) ? 1 : 0), {}, {}};
    const int64_t y = one ? apply(n.op, x, n.dtype) : apply(n.op, x, z, n.dtype);
    return {Wide(to_double(y, n.dtype)), {}, {}};
  }

  WideValue reduced(const Node& n, const NodePlan& plan, int64_t index) {
    const int64_t base = address(plan.reduced[0], index), count = count_of(plan.reduced[1].shape);
    if (!tensor::is_float(n.dtype) || count == 0) return unknown();
    WideSum sum;
    WideValue best;
    for (int64_t k = 0; k < count && !tired(); ++k) {
      const WideValue x = at(n.inputs[0], base + address(plan.reduced[1], k));
      if (!is_known(x)) return unknown();
      if (n.op == Op::Sum) {
        sum.add(x);
      } else {
        best = k == 0 ? x : wide_choice(best, x, n.op == Op::Max ? 1 : -1);
      }
    }
    if (tired()) return unknown();
    const auto terms = static_cast<double>(count);
    return n.op == Op::Sum ? sum.result(terms, ports::chain_units(terms), plan.op.rounding) : best;
  }

  WideValue product(const Node& n, const NodePlan& plan, int64_t index) {
    const Extents& left = shape_of(n.inputs[0]);
    const Extents& right = shape_of(n.inputs[1]);
    const int64_t columns = right.back(), depth = left.back(), rows = left[left.size() - 2];
    const int64_t batch = index / (rows * columns), row = index / columns % rows;
    if (!tensor::is_float(n.dtype) || count_of(left) % (rows * depth) != 0) return unknown();
    WideSum sum;
    for (int64_t k = 0; k < depth && !tired(); ++k) {
      const WideValue x = at(n.inputs[0], (batch * rows + row) * depth + k);
      const WideValue z = at(n.inputs[1], (batch * depth + k) * columns + index % columns);
      if (!is_known(x) || !is_known(z)) return unknown();
      sum.add(wide_product(x, z));
    }
    if (tired()) return unknown();
    const auto terms = static_cast<double>(depth);
    return sum.result(std::max(terms, 2.0), terms / (2 * kPathFactor), plan.op.rounding);
  }

  const Graph& graph_;
  const std::vector<HostTensor>& inputs_;
  std::vector<NodeFacts> facts_;
  std::vector<NodePlan> plans_;
  int64_t steps_ = 0;
};

bool is_open(const tensor::Large<float>& values, size_t at) {
  return !values.empty() && std::isinf(values[at]);
}

void set_error(double error, size_t at, size_t count, tensor::Large<float>& errors) {
  if (errors.empty() && error == 0) return;
  errors.resize(count);
  errors[at] = stored_bound(error);
}

}  // namespace

void widen_range(const Graph& graph, const std::vector<HostTensor>& inputs,
                 const ports::TruthOptions& options, std::vector<Truth>& truths) {
  std::optional<WideRun> run;
  for (size_t k = 0; k < truths.size(); ++k) {
    Truth& truth = truths[k];
    if (!tensor::is_float(truth.dtype)) continue;
    const size_t count = truth.value.size();
    const double limit = ports::largest_finite(truth.dtype);
    for (size_t at = 0; at < count; ++at) {
      if (!is_open(truth.a, at) && !is_open(truth.h, at)) continue;
      if (!run) run.emplace(graph, inputs, options);
      if (run->tired()) return;
      const WideValue y = run->at(graph.outputs[k].node, static_cast<int64_t>(at));
      if (!is_known(y)) continue;
      // A value that is surely beyond the output's range needs no larger error than this.
      const Wide reach = Wide(kPathFactor) * y.a + y.h;
      const bool far = reach < abs(y.t) - Wide(limit);
      const double most = far ? 0x1p120 : kInfinity;
      truth.value[at] = y.t.value();
      set_error(std::min(y.a.value(), most), at, count, truth.a);
      set_error(std::min(y.h.value(), most), at, count, truth.h);
      if (is_open(truth.jump, at)) truth.jump[at] = 0;
    }
  }
}

}  // namespace kw::truth
