#include "frontend/interval.h"

#include <algorithm>

namespace kw::frontend {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Op;

constexpr int kMostSteps = 200;

/// Treats inf * 0 as 0: every value inside the interval is finite.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval product(const Interval& a, const Interval& b) {
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                            times(a.high, b.high)};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return {*low, *high, *low == 0 && a.open && b.open};
}

Interval inverse(const Interval& a) {
  if (a.low > 0 || a.high < 0) return {1 / a.high, 1 / a.low, false};
  if (a.low == 0) return {0, HUGE_VAL, true};
  return {};
}

Interval magnitude(const Interval& x) {
  if (x.low >= 0) return x;
  return {0, std::max(std::abs(x.low), std::abs(x.high)), false};
}

// `z` is the second operand, for ops that have one.
Interval through(Op op, const Interval& x, const Interval& z = {}) {
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    __VA_ARGS__ break;
#define RANGE(...) return {__VA_ARGS__};
#include "ops/table.def"
    default:
      break;
  }
  return {};
}

bool moves_only(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Permute:
    case Op::Expand:
    case Op::Slice:
    case Op::Flip:
    case Op::Window:
    case Op::Gather:
    case Op::IndexSelect:
    case Op::SortValues:
    case Op::TopKValues:
    case Op::Max:
    case Op::Min:
    case Op::CumMax:
    case Op::CumMin:
      return true;
    default:
      return false;
  }
}

Interval joined(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.open && b.open};
}

class Ranges {
 public:
  Ranges(const NodeLookup& nodes, const std::map<NodeId, Interval>& given)
      : nodes_(nodes), known_(given) {}

  Interval of(NodeId id, int depth = 0) {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    if (depth > kMostSteps) return {};
    const Interval result = compute(nodes_(id), depth);
    known_[id] = result;
    return result;
  }

 private:
  Interval compute(const Node& node, int depth) {
    if (node.op == Op::Constant) {
      const bool floats = tensor::is_float(node.dtype);
      const double value = floats ? node.attrs.number : static_cast<double>(node.attrs.integer);
      return {value, value, false};
    }
    if (node.op == Op::Iota) {
      const auto extent = node.shape[static_cast<size_t>(node.attrs.dims[0])].value();
      return {0, static_cast<double>(extent > 0 ? extent - 1 : 0), false};
    }
    if (node.inputs.empty()) return {};
    const Interval a = of(node.inputs[0], depth + 1);
    if (node.op == Op::Cast) return node.dtype == tensor::DType::Bool ? Interval{0, 1, false} : a;
    if (moves_only(node.op)) return a;
    if (node.op == Op::Sum || node.op == Op::CumSum)
      return a.low >= 0 ? Interval{0, HUGE_VAL, a.open} : Interval{};
    if (node.op == Op::Concat) {
      Interval all = a;
      for (const NodeId input : node.inputs) all = joined(all, of(input, depth + 1));
      return all;
    }
    return node.inputs.size() == 1 ? through(node.op, a) : pairwise(node, a, depth);
  }

  Interval pairwise(const Node& node, const Interval& a, int depth) {
    const Interval b = of(node.inputs[1], depth + 1);
    if (node.op == Op::Mul && node.inputs[0] == node.inputs[1])
      return product(magnitude(a), magnitude(a));
    if (node.op == Op::Where) return joined(b, of(node.inputs[2], depth + 1));
    return through(node.op, a, b);
  }

  const NodeLookup& nodes_;
  std::map<NodeId, Interval> known_;
};

}  // namespace

Interval interval_of(const NodeLookup& nodes, NodeId id, const std::map<NodeId, Interval>& given) {
  return Ranges(nodes, given).of(id);
}

}  // namespace kw::frontend
