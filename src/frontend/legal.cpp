#include "frontend/legal.h"

#include <algorithm>
#include <cmath>

#include "frontend/names.h"

namespace kw::frontend {
namespace {

using graph::Builder;
using graph::Node;
using graph::NodeId;
using graph::Op;

constexpr double kInfinity = HUGE_VAL;

/// Every value lies within; `open` excludes `low` itself.
struct Interval {
  double low = -kInfinity, high = kInfinity;
  bool open = false;

  bool known() const { return low > -kInfinity || high < kInfinity; }
};

Interval of_legal(const task::Legal& legal) {
  Interval result;
  if (legal.low) result.low = static_cast<double>(*legal.low);
  if (legal.high) result.high = static_cast<double>(*legal.high);
  if (legal.float_low) result.low = *legal.float_low;
  if (legal.float_high) result.high = *legal.float_high;
  if (legal.positive) result.low = 0, result.open = true;
  return result;
}

/// inf * 0 is no bound.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval product(const Interval& a, const Interval& b) {
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high, false};
}

Interval inverse(const Interval& a) {
  if (a.low > 0) return {1 / a.high, 1 / a.low, false};
  if (a.high < 0) return {1 / a.high, 1 / a.low, false};
  if (a.low == 0) return {0, kInfinity, false};
  return {};
}

Interval through(Op op, const Interval& x) {
  switch (op) {
    case Op::Neg:
      return {-x.high, -x.low, false};
    case Op::Abs:
      if (x.low >= 0) return x;
      return {0, std::max(std::abs(x.low), std::abs(x.high)), false};
    case Op::Exp:
      return {std::exp(x.low), std::exp(x.high), !(x.low > -kInfinity)};
    case Op::Sigmoid:
      return {0, 1, true};
    case Op::Tanh:
    case Op::Sin:
    case Op::Cos:
    case Op::Sign:
      return {-1, 1, false};
    case Op::Sqrt:
      return {0, x.high >= 0 ? std::sqrt(x.high) : kInfinity, false};
    case Op::Floor:
    case Op::Round:
    case Op::Trunc:
    case Op::Ceil:
      return {std::floor(x.low), std::ceil(x.high), false};
    default:
      return {};
  }
}

class Range {
 public:
  Range(const Builder& graph, const std::vector<Drawn>& drawn) : graph_(graph), drawn_(drawn) {}

  Interval of(NodeId id, int depth = 0) const {
    if (depth > 64) return {};
    for (const Drawn& one : drawn_) {
      if (one.node == id) return of_legal(one.legal);
    }
    const Node& node = graph_[id];
    if (node.op == Op::Constant) {
      const bool floats = tensor::is_float(node.dtype);
      const double value = floats ? node.attrs.number : static_cast<double>(node.attrs.integer);
      return {value, value, false};
    }
    if (node.op == Op::Iota) {
      const auto extent = node.shape[static_cast<size_t>(node.attrs.dims[0])].value();
      return {0, static_cast<double>(extent > 0 ? extent - 1 : 0), false};
    }
    return node.inputs.empty() ? Interval{} : composed(node, depth);
  }

 private:
  Interval composed(const Node& node, int depth) const {
    const Interval a = of(node.inputs[0], depth + 1);
    switch (node.op) {
      case Op::Cast:
        return node.dtype == tensor::DType::Bool ? Interval{0, 1, false} : a;
      case Op::Reshape:
      case Op::Permute:
      case Op::Expand:
      case Op::Slice:
      case Op::Flip:
      case Op::Gather:
      case Op::IndexSelect:
      case Op::SortValues:
      case Op::Max:
      case Op::Min:
        return a;
      case Op::Sum:
        return a.low >= 0 ? Interval{0, kInfinity, a.open} : Interval{};
      case Op::Concat: {
        Interval all = a;
        for (const NodeId input : node.inputs) {
          const Interval one = of(input, depth + 1);
          all = {std::min(all.low, one.low), std::max(all.high, one.high), all.open && one.open};
        }
        return all;
      }
      default:
        return node.inputs.size() == 1 ? through(node.op, a) : pairwise(node, a, depth);
    }
  }

  Interval pairwise(const Node& node, const Interval& a, int depth) const {
    const Interval b = of(node.inputs[1], depth + 1);
    switch (node.op) {
      case Op::Add:
        return {a.low + b.low, a.high + b.high, a.open || b.open};
      case Op::Sub:
        return {a.low - b.high, a.high - b.low, a.open};
      case Op::Mul: {
        if (node.inputs[0] == node.inputs[1])
          return product(through(Op::Abs, a), through(Op::Abs, a));
        return product(a, b);
      }
      case Op::Div:
        return product(a, inverse(b));
      case Op::Maximum:
        return {std::max(a.low, b.low), std::max(a.high, b.high), false};
      case Op::Minimum:
        return {std::min(a.low, b.low), std::min(a.high, b.high), false};
      case Op::Where: {
        const Interval c = of(node.inputs[2], depth + 1);
        return {std::min(b.low, c.low), std::max(b.high, c.high), false};
      }
      default:
        return {};
    }
  }

  const Builder& graph_;
  const std::vector<Drawn>& drawn_;
};

/// The tensor behind movements and casts.
NodeId origin_of(const Builder& graph, NodeId id) {
  for (;;) {
    const Node& node = graph[id];
    const bool same = node.op == Op::Cast || node.op == Op::Reshape || node.op == Op::Permute ||
                      node.op == Op::Expand || node.op == Op::Slice;
    if (!same) return id;
    id = node.inputs[0];
  }
}

NodeId without_scale(const Builder& graph, NodeId id) {
  const Node& node = graph[id];
  const bool scaled = (node.op == Op::Mul || node.op == Op::Div) && node.inputs.size() == 2 &&
                      graph[origin_of(graph, node.inputs[1])].op == Op::Constant;
  return scaled ? node.inputs[0] : id;
}

task::Structure structure_of(const Builder& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.shape.size() < 2) return task::Structure::General;
  if (node.origin == "triu") return task::Structure::Upper;
  if (node.origin == "tril") return task::Structure::Lower;
  const Node& sum = graph[without_scale(graph, id)];
  if (sum.op != Op::Add) return task::Structure::General;
  for (const int which : {0, 1}) {
    const Node& other = graph[sum.inputs[static_cast<size_t>(which)]];
    const bool turned =
        other.op == Op::Permute && other.inputs[0] == sum.inputs[static_cast<size_t>(1 - which)];
    if (turned && other.shape.size() == 2) return task::Structure::Symmetric;
  }
  return task::Structure::General;
}

}  // namespace

task::Legal legal_of(const Builder& graph, NodeId id, const std::vector<Drawn>& drawn) {
  task::Legal legal;
  const NodeId origin = origin_of(graph, id);
  const bool floats = tensor::is_float(graph[id].dtype);
  for (const Drawn& one : drawn) {
    // The values themselves, only moved: every promise holds, the dim it is made by too.
    if (one.node == origin && tensor::is_float(graph[origin].dtype) == floats) legal = one.legal;
  }
  if (graph[origin].op == Op::Iota && !floats) {
    const graph::Dim extent = graph[origin].shape[static_cast<size_t>(graph[origin].attrs.dims[0])];
    if (is_dim_name(extent.text())) legal.high_dim = extent.text();
  }
  legal.structure = structure_of(graph, id);
  const Interval range = Range(graph, drawn).of(id);
  if (graph[id].dtype == tensor::DType::Bool || !range.known()) return legal;
  if (!floats) {
    if (range.low > -9e18) legal.low = static_cast<int64_t>(range.low);
    if (range.high < 9e18 && legal.high_dim.empty()) legal.high = static_cast<int64_t>(range.high);
    return legal;
  }
  if (range.low == 0 && range.open && range.high == kInfinity) {
    legal.positive = true;
    return legal;
  }
  if (range.low > -kInfinity) legal.float_low = range.low;
  if (range.high < kInfinity) legal.float_high = range.high;
  return legal;
}

}  // namespace kw::frontend
