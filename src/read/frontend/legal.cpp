// The judge draws inputs. A wrong draw makes a correct kernel look wrong: log of a negative number,
// or an index outside its table. So we derive the legal values from two graphs. The graph of
// get_inputs() gives ranges by interval arithmetic and structure (triangular, symmetric). The graph
// of the reference gives what its operators need: log's domain, and the extents that indices must
// stay below. The alternative, to ask the user for each range, remains possible in task.toml. The
// rules cover common forms only; for any other form no limit is set.
#include "frontend/legal.h"

#include <algorithm>
#include <optional>

#include "frontend/interval.h"
#include "frontend/names.h"

namespace kw::frontend {
namespace {

using graph::Builder;
using graph::Dim;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;

Interval of_legal(const task::Legal& legal) {
  Interval result;
  if (legal.low) result.low = static_cast<double>(*legal.low);
  if (legal.high) result.high = static_cast<double>(*legal.high);
  if (legal.float_low) result.low = *legal.float_low;
  if (legal.float_high) result.high = *legal.float_high;
  if (legal.positive) result.low = 0, result.open = true;
  return result;
}

bool keeps_values(Op op) {
  return op == Op::Cast || op == Op::Reshape || op == Op::Permute || op == Op::Expand ||
         op == Op::Slice;
}

/// The tensor before movements and casts.
NodeId origin_of(const Builder& graph, NodeId id) {
  while (keeps_values(graph[id].op)) id = graph[id].inputs[0];
  return id;
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
  for (const size_t which : {0, 1}) {
    const Node& other = graph[sum.inputs[which]];
    const bool turned = other.op == Op::Permute && other.inputs[0] == sum.inputs[1 - which];
    if (turned && other.shape.size() == 2) return task::Structure::Symmetric;
  }
  return task::Structure::General;
}

void set_range(task::Legal& legal, const Interval& range, bool floats) {
  if (!floats) {
    if (range.low > -9e18) legal.low = static_cast<int64_t>(range.low);
    if (range.high < 9e18 && legal.below.empty()) legal.high = static_cast<int64_t>(range.high);
    return;
  }
  if (range.low == 0 && range.open && range.high == HUGE_VAL) {
    legal.positive = true;
    return;
  }
  if (range.low > -HUGE_VAL) legal.float_low = range.low;
  if (range.high < HUGE_VAL) legal.float_high = range.high;
}

}  // namespace

void set_below(task::Legal& legal, const Dim& extent) {
  if (extent.is_constant()) {
    legal.high = extent.value() - 1;
    return;
  }
  legal.below = extent.text();
  legal.high.reset();
}

task::Legal legal_of(const Builder& graph, NodeId id, const std::vector<Drawn>& drawn) {
  task::Legal legal;
  if (graph[id].dtype == tensor::DType::Bool) return legal;
  const NodeId origin = origin_of(graph, id);
  const bool floats = tensor::is_float(graph[id].dtype);
  std::map<NodeId, Interval> given;
  for (const Drawn& one : drawn) {
    given[one.node] = of_legal(one.legal);
    // The drawn values are only moved, so every promise holds, with its dim.
    if (one.node == origin && tensor::is_float(graph[origin].dtype) == floats) legal = one.legal;
  }
  if (graph[origin].op == Op::Iota && !floats)
    set_below(legal, graph[origin].shape[static_cast<size_t>(graph[origin].attrs.dims[0])]);
  legal.structure = structure_of(graph, id);
  const NodeLookup nodes = [&](NodeId node) -> const Node& { return graph[node]; };
  const Interval range = interval_of(nodes, id, given);
  if (range.known()) set_range(legal, range, floats);
  return legal;
}

namespace {

/// Whether every value of `x` is in the domain of `op`.
bool in_domain(Op op, const Interval& x) {
  switch (op) {
#define KW_FUNCTION(op, name, ...) \
  case Op::op:                     \
    __VA_ARGS__ break;
#define WITHIN(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  return true;
}

bool is_whole(double value) { return value == std::floor(value); }

}  // namespace

bool range_matters(const Graph& graph, NodeId input) {
  std::vector<bool> reached(graph.nodes.size(), false);
  reached[static_cast<size_t>(input)] = true;
  const NodeLookup nodes = [&](NodeId node) -> const Node& { return graph[node]; };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    for (const NodeId one : node.inputs)
      if (reached[static_cast<size_t>(one)]) reached[i] = true;
    if (!reached[i] || node.inputs.empty()) continue;
    const bool first = reached[static_cast<size_t>(node.inputs[0])];
    if (node.op == Op::Pow && first) {
      const Interval exponent = interval_of(nodes, node.inputs[1], {});
      const bool whole = exponent.low == exponent.high && is_whole(exponent.low);
      if (!whole && interval_of(nodes, node.inputs[0], {}).low < 0) return true;
    }
    if (node.inputs.size() == 1 && !in_domain(node.op, Interval{}) &&
        !in_domain(node.op, interval_of(nodes, node.inputs[0], {})))
      return true;
  }
  return false;
}

namespace {

/// Functions with a value where their logarithm has none: 0 log 0 is 0.
bool takes_zero(const std::string& origin) {
  return origin == "xlogy" || origin == "kl_div" || origin == "entr";
}

/// How a node depends on an input: not at all, x itself, -x or 1 - x.
enum class Relation : uint8_t { None, Same, Negated, OneMinus };

bool is_one(const Graph& graph, NodeId id) {
  while (keeps_values(graph[id].op)) id = graph[id].inputs[0];
  const Node& node = graph[id];
  if (node.op != Op::Constant) return false;
  return tensor::is_float(node.dtype) ? node.attrs.number == 1 : node.attrs.integer == 1;
}

Relation relation_of(const Graph& graph, const Node& node, const std::vector<Relation>& known) {
  if (node.inputs.empty()) return Relation::None;
  const Relation first = known[static_cast<size_t>(node.inputs[0])];
  if (keeps_values(node.op)) return first;
  if (node.op == Op::Neg && first == Relation::Same) return Relation::Negated;
  if (node.op != Op::Sub || !is_one(graph, node.inputs[0])) return Relation::None;
  const bool same = known[static_cast<size_t>(node.inputs[1])] == Relation::Same;
  return same ? Relation::OneMinus : Relation::None;
}

}  // namespace

void keep_in_domain(task::Legal& legal, const Graph& graph, NodeId input) {
  const bool promised = legal.positive || legal.float_low || legal.float_high;
  if (promised || !tensor::is_float(graph[input].dtype)) return;
  std::vector<Relation> known(graph.nodes.size(), Relation::None);
  known[static_cast<size_t>(input)] = Relation::Same;
  bool above_zero = false, from_zero = false, below_one = false;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (static_cast<NodeId>(i) != input) known[i] = relation_of(graph, node, known);
    const Relation of =
        node.inputs.empty() ? Relation::None : known[static_cast<size_t>(node.inputs[0])];
    const bool log = node.op == Op::Log || node.op == Op::Log2 || node.op == Op::Log10;
    // PyTorch checks the targets of this loss, even if the formula would accept other values.
    const bool target = of == Relation::Same && node.op == Op::Sub &&
                        node.origin == "binary_cross_entropy" && is_one(graph, node.inputs[1]);
    const bool of_input = log && of == Relation::Same;
    from_zero = from_zero || (of_input && takes_zero(node.origin));
    above_zero = above_zero || target || (of_input && !takes_zero(node.origin));
    below_one = below_one || target || (log && of == Relation::OneMinus) ||
                (node.op == Op::Log1p && of == Relation::Negated);
  }
  if (above_zero && below_one) {
    legal.float_low = 0;
    legal.float_high = 1;
  } else if (above_zero) {
    legal.positive = true;
  } else if (from_zero) {
    legal.float_low = 0;
  }
}

namespace {

/// Passes the bound of an index back to the nodes it is computed from.
class IndexBounds {
 public:
  explicit IndexBounds(const Graph& graph) : graph_(graph), bounds_(graph.nodes.size()) {}

  std::map<std::string, Dim> run() {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      if (node.op == Op::Gather || node.op == Op::IndexSelect || node.op == Op::Scatter)
        limit(node.inputs[1],
              graph_[node.inputs[0]].shape[static_cast<size_t>(node.attrs.dims[0])]);
      if (node.op == Op::Eq) compare_positions(node);
      if (bounds_[i]) pass_on(node, *bounds_[i]);
    }
    std::map<std::string, Dim> result;
    for (const graph::NamedNode& input : graph_.inputs) {
      const auto& bound = bounds_[static_cast<size_t>(input.node)];
      const tensor::DType dtype = graph_[input.node].dtype;
      if (bound && dtype != tensor::DType::Bool && !tensor::is_float(dtype))
        result.emplace(input.name, *bound);
    }
    return result;
  }

 private:
  /// index == 0, 1, 2 …: the index is a class, so it must be below the number of classes.
  void compare_positions(const Node& node) {
    for (const size_t which : {0, 1}) {
      NodeId at = node.inputs[which];
      while (keeps_values(graph_[at].op)) at = graph_[at].inputs[0];
      const Node& positions = graph_[at];
      if (positions.op == Op::Iota)
        limit(node.inputs[1 - which],
              positions.shape[static_cast<size_t>(positions.attrs.dims[0])]);
    }
  }

  void limit(NodeId id, const Dim& bound) {
    auto& known = bounds_[static_cast<size_t>(id)];
    if (!known || bound.value() < known->value()) known = bound;
  }

  std::optional<Dim> constant(NodeId id) const {
    while (graph_[id].op == Op::Expand || graph_[id].op == Op::Reshape) id = graph_[id].inputs[0];
    const Node& node = graph_[id];
    if (node.op != Op::Constant || tensor::is_float(node.dtype)) return std::nullopt;
    return node.attrs.starts.empty() ? Dim(node.attrs.integer) : node.attrs.starts[0];
  }

  void pass_on(const Node& node, const Dim& bound) {
    if (keeps_values(node.op) || node.op == Op::Flip) return limit(node.inputs[0], bound);
    if (node.op == Op::Concat) {
      for (const NodeId one : node.inputs) limit(one, bound);
    }
    if (node.op == Op::Where) {
      // where(i < 0, i + extent, i) counts negative indices from the end.
      const Node& moved = graph_[node.inputs[1]];
      const bool wraps = moved.op == Op::Add && moved.inputs[0] == node.inputs[2];
      limit(node.inputs[2], bound);
      if (!wraps) limit(node.inputs[1], bound);
    }
    if (node.op == Op::Maximum) {
      // clamp(min=0) of targets that may be ignored.
      for (const NodeId one : node.inputs) limit(one, bound);
    }
    if (node.op == Op::FloorDiv || node.op == Op::Div) {
      // A page of rows: position // rows.
      const auto divisor = constant(node.inputs[1]);
      if (divisor && divisor->value() > 0) limit(node.inputs[0], bound * *divisor);
    }
    if (node.op == Op::Add) {
      // A linear index: row * columns + column.
      const Node& scaled = graph_[node.inputs[0]];
      if (scaled.op != Op::Mul) return;
      const auto factor = constant(scaled.inputs[1]);
      if (!factor || factor->value() <= 0) return;
      limit(node.inputs[1], *factor);
      limit(scaled.inputs[0], floor_div(bound, *factor));
    }
  }

  const Graph& graph_;
  std::vector<std::optional<Dim>> bounds_;
};

}  // namespace

std::map<std::string, Dim> index_bounds(const Graph& graph) { return IndexBounds(graph).run(); }

}  // namespace kw::frontend
