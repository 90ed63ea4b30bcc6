// The problem: storing every node needs too much memory; storing none computes shared nodes
// repeatedly. Heavy ops and outputs are stored. Pointwise ops and views are fused into their
// consumers. A pointwise node is stored too if several stored nodes use it and its estimated cost
// is above 48. A node is also stored if a layout cannot express a view of it, or if a view would
// repeat its computation. The alternative, storing all nodes, would be simpler but slower, because
// the data would leave the cache. The cost is this analysis, once per graph and shape.
#include "truth/evaluation_plan.h"

#include <set>

#include "core/contains.h"
#include "graph/graph_op.h"
#include "truth/view.h"

namespace kw::truth {

namespace {

enum class Kind { Leaf, View, Point, Heavy };

Kind kind_of(const Node& node) {
  if (node.op == Op::Input || node.op == Op::Constant || node.op == Op::Iota) return Kind::Leaf;
  if (is_view_op(node.op)) return Kind::View;
  return graph::op_info(node.op).kind == OpKind::Pointwise ? Kind::Point : Kind::Heavy;
}

// A pointwise node with several consumers is stored if computing it again costs more than reading
// it.
constexpr double kWorthKeeping = 48;

double cost_of(const Node& node) {
  if (kind_of(node) != Kind::Point) return 1;
  const bool function = !graph::op_info(node.op).exact &&
                        !(node.op >= Op::Add && node.op <= Op::Div) && node.op != Op::Cast;
  return function ? 12 : 2;
}

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<NodeFacts>& facts, Factors factors)
      : graph_(graph), facts_(facts), factors_(factors) {
    plan_.whole.assign(graph.nodes.size(), false);
  }

  Plan run() {
    mark_required();
    keep_shared();
    keep_unseeable();
    find_reads();
    return std::move(plan_);
  }

 private:
  size_t size() const { return graph_.nodes.size(); }
  const Node& node(size_t id) const { return graph_.nodes[id]; }
  bool fused(size_t id) const { return !plan_.whole[id] && kind_of(node(id)) != Kind::Leaf; }

  void keep(NodeId id) {
    if (node(static_cast<size_t>(id)).op != Op::Input) plan_.whole[static_cast<size_t>(id)] = true;
  }

  void mark_required() {
    for (size_t id = 0; id < size(); ++id) {
      if (!facts_[id].needed) continue;
      const Node& n = node(id);
      if (kind_of(n) == Kind::Heavy) plan_.whole[id] = true;
      // Elements of this input are read in any order.
      if (n.op == Op::Gather || n.op == Op::IndexSelect) keep(n.inputs[0]);
      if (n.op != Op::MatMul || factors_ == Factors::Fused) continue;
      for (const NodeId in : n.inputs) keep_computed(static_cast<size_t>(in));
    }
    for (const graph::NamedNode& output : graph_.outputs) keep(output.node);
  }

  // Stores the pointwise node below views and casts, if there is one.
  void keep_computed(size_t id) {
    while (kind_of(node(id)) == Kind::View || node(id).op == Op::Cast)
      id = static_cast<size_t>(node(id).inputs[0]);
    if (kind_of(node(id)) == Kind::Point) plan_.whole[id] = true;
  }

  // Visits consumers first: their decisions determine how often a node would be computed.
  void keep_shared() {
    std::vector<double> cost(size(), 0);
    for (size_t id = 0; id < size(); ++id) {
      cost[id] = cost_of(node(id));
      for (const NodeId in : node(id).inputs) {
        if (fused(static_cast<size_t>(in))) cost[id] += cost[static_cast<size_t>(in)];
      }
    }
    std::vector<std::set<size_t>> roots(size());
    for (size_t id = size(); id-- > 0;) {
      if (!facts_[id].needed) continue;
      if (kind_of(node(id)) == Kind::Point && roots[id].size() > 1 && cost[id] > kWorthKeeping)
        plan_.whole[id] = true;
      for (const NodeId in : node(id).inputs) {
        std::set<size_t>& seen = roots[static_cast<size_t>(in)];
        if (plan_.whole[id]) {
          seen.insert(id);
        } else if (seen.size() < 2) {
          seen.insert(roots[id].begin(), roots[id].end());
        }
      }
    }
  }

  // A layout must express every view down to stored data. An expanded node, or one seen through
  // overlapping windows, must not be computed once per copy.
  void keep_unseeable() {
    std::vector<std::vector<Layout>> leaves(size());
    for (size_t id = 0; id < size(); ++id) {
      if (!facts_[id].needed) continue;
      const Node& n = node(id);
      const Kind kind = kind_of(n);
      if (kind == Kind::View) leaves[id] = seen_through(id, leaves);
      if (kind == Kind::Point) leaves[id] = united(n, leaves);
      if (plan_.whole[id] || kind == Kind::Leaf || kind == Kind::Heavy)
        leaves[id] = {layout_of(dense_view(facts_[id].shape))};
      if (n.op == Op::Iota && !plan_.whole[id]) leaves[id] = {iota_layout(n, facts_[id].shape)};
    }
  }

  std::vector<Layout> seen_through(size_t id, std::vector<std::vector<Layout>>& leaves) {
    const Node& n = node(id);
    const auto in = static_cast<size_t>(n.inputs[0]);
    const bool grows = count_of(facts_[id].shape) > count_of(facts_[in].shape);
    if (grows && computes(in)) make_whole(in, leaves);
    std::vector<Layout> out;
    for (const Layout& leaf : leaves[in]) {
      auto view = view_layout(n, leaf);
      if (!view) {
        make_whole(in, leaves);
        return {*view_layout(n, leaves[in][0])};
      }
      out.push_back(*std::move(view));
    }
    return out;
  }

  // Returns whether the node is computed by more than views from stored data.
  bool computes(size_t id) const {
    while (fused(id) && kind_of(node(id)) == Kind::View)
      id = static_cast<size_t>(node(id).inputs[0]);
    return fused(id);
  }

  void make_whole(size_t id, std::vector<std::vector<Layout>>& leaves) {
    plan_.whole[id] = true;
    leaves[id] = {layout_of(dense_view(facts_[id].shape))};
  }

  static std::vector<Layout> united(const Node& n, const std::vector<std::vector<Layout>>& leaves) {
    std::vector<Layout> all;
    for (const NodeId in : n.inputs) {
      for (const Layout& view : leaves[static_cast<size_t>(in)]) {
        if (!contains(all, view)) all.push_back(view);
      }
    }
    return all;
  }

  static Layout iota_layout(const Node& n, const Extents& shape) {
    View view{shape, Extents(shape.size(), 0), 0};
    view.strides[static_cast<size_t>(n.attrs.dims[0])] = 1;
    return layout_of(view);
  }

  void find_reads() {
    plan_.reads.resize(size());
    plan_.last_reader.assign(size(), -1);
    std::vector<std::set<int>> below(size());  // whole nodes that a fused node reads
    for (size_t id = 0; id < size(); ++id) {
      if (!facts_[id].needed) continue;
      for (const NodeId in : node(id).inputs) {
        const auto i = static_cast<size_t>(in);
        if (plan_.whole[i]) {
          below[id].insert(in);
        } else {
          below[id].insert(below[i].begin(), below[i].end());
        }
      }
      if (!plan_.whole[id]) continue;
      plan_.reads[id].assign(below[id].begin(), below[id].end());
      for (const int in : below[id])
        plan_.last_reader[static_cast<size_t>(in)] = static_cast<int>(id);
    }
    for (const graph::NamedNode& output : graph_.outputs)
      plan_.last_reader[static_cast<size_t>(output.node)] = static_cast<int>(size());
  }

  const Graph& graph_;
  const std::vector<NodeFacts>& facts_;
  Factors factors_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Graph& graph, const std::vector<NodeFacts>& facts, Factors factors) {
  return Planner(graph, facts, factors).run();
}

}  // namespace kw::truth
