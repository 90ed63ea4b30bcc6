// The problem: find the dims along which rows may be permuted or split without changing the
// results. Such a dim is a batch: every output element depends on one position of it, in the same
// way at each. The search follows the batch axis from the inputs through each op; an op that mixes
// along it ends the search. The alternative, trying permutations with the oracle, would cost truths
// and prove nothing. The cost: an op without a rule counts as mixing, so some valid relations are
// not found.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/ascii.h"
#include "core/contains.h"
#include "gate/metamorphic.h"

namespace kw::gate {

namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;

/// How a node depends on the batch.
struct Rows {
  bool mixed = false;         // mixes positions of the batch
  int axis = -1;              // the batch axis; -1: independent of the batch
  std::vector<bool> uniform;  // per axis: constant along it (of nodes without the batch)
};

int64_t extent(const Node& node, int axis) { return node.shape[static_cast<size_t>(axis)].value(); }

int64_t count_before(const Node& node, int axis) {
  int64_t count = 1;
  for (int i = 0; i < axis; ++i) count *= extent(node, i);
  return count;
}

bool mentions(std::string_view text, const std::string& name) {
  const auto in_word = [&](size_t at) {
    return at < text.size() && is_name_char(text[at]);
  };
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (!in_word(at + name.size()) && (at == 0 || !in_word(at - 1))) return true;
  }
  return false;
}

bool mentions(const std::vector<graph::Dim>& dims, const std::string& name) {
  return std::ranges::any_of(dims, [&](const auto& dim) { return mentions(dim.text(), name); });
}

class RowSearch {
 public:
  RowSearch(const Graph& graph, std::vector<int> input_axes)
      : graph_(graph), axes_(std::move(input_axes)) {}

  std::optional<std::vector<int>> output_axes() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id)
      rows_.push_back(follow(graph_[id]));
    std::vector<int> axes;
    for (const graph::NamedNode& output : graph_.outputs) {
      const Rows& rows = of(output.node);
      if (rows.mixed) return std::nullopt;
      axes.push_back(rows.axis);
    }
    const bool any = std::ranges::any_of(axes, [](int axis) { return axis >= 0; });
    return any ? std::optional(axes) : std::nullopt;
  }

  /// Whether something is computed from how many rows there are, such as a sum of as many ones.
  bool knows_extent(const std::string& name) const {
    return std::ranges::any_of(graph_.nodes, [&](const Node& node) {
      const OpKind kind = graph::op_info(node.op).kind;
      const bool gathers = kind != OpKind::Pointwise && node.op != Op::Expand;
      return gathers && std::ranges::any_of(node.inputs, [&](NodeId id) {
               return of(id).axis < 0 && mentions(graph_[id].shape, name);
             });
    });
  }

  /// Results that are the same in all rows get the axis of the dim. False if one has the dim in
  /// another way.
  bool give_rows(std::vector<int>& axes, const std::string& name) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      const NodeId id = graph_.outputs[i].node;
      const graph::Shape& shape = graph_[id].shape;
      if (axes[i] >= 0 || !mentions(shape, name)) continue;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (!mentions(shape[d].text(), name)) continue;
        if (axes[i] >= 0 || shape[d].text() != name || !uniform_along(id, static_cast<int>(d)))
          return false;
        axes[i] = static_cast<int>(d);
      }
    }
    return true;
  }

 private:
  const Rows& of(NodeId id) const { return rows_[static_cast<size_t>(id)]; }
  static Rows mixed() { return {true, -1, {}}; }
  static Rows batched(int axis) { return {false, axis, {}}; }

  bool uniform_along(NodeId id, int axis) const {
    const Rows& rows = of(id);
    return extent(graph_[id], axis) == 1 || (static_cast<size_t>(axis) < rows.uniform.size() &&
                                             rows.uniform[static_cast<size_t>(axis)]);
  }

  // Operands have one rank: those with the batch must agree on its axis, the others must be uniform
  // along it.
  std::optional<int> common_axis(const std::vector<NodeId>& ids) const {
    int axis = -1;
    for (const NodeId id : ids) {
      if (of(id).axis < 0) continue;
      if (axis >= 0 && of(id).axis != axis) return std::nullopt;
      axis = of(id).axis;
    }
    for (const NodeId id : ids) {
      if (axis >= 0 && of(id).axis < 0 && !uniform_along(id, axis)) return std::nullopt;
    }
    return axis;
  }

  Rows shared(const Node& node) const {
    Rows rows;
    rows.uniform.resize(node.shape.size());
    const OpKind kind = graph::op_info(node.op).kind;
    for (int axis = 0; axis < static_cast<int>(node.shape.size()); ++axis)
      rows.uniform[static_cast<size_t>(axis)] = stays_uniform(node, kind, axis);
    return rows;
  }

  bool stays_uniform(const Node& node, OpKind kind, int axis) const {
    if (extent(node, axis) == 1) return true;
    if (node.op == Op::Iota) return !contains(node.attrs.dims, axis);
    if (node.op == Op::Expand) {
      const int old = axis - static_cast<int>(node.shape.size()) +
                      static_cast<int>(graph_[node.inputs[0]].shape.size());
      return old < 0 || uniform_along(node.inputs[0], old);
    }
    if (kind == OpKind::Pointwise) {
      return std::ranges::all_of(node.inputs,
                                 [&](NodeId input) { return uniform_along(input, axis); });
    }
    if (kind == OpKind::Reduction) return uniform_along(node.inputs[0], axis);
    if (node.op == Op::Permute)
      return uniform_along(node.inputs[0], node.attrs.dims[static_cast<size_t>(axis)]);
    return false;
  }

  Rows follow(const Node& node) const {
    if (node.op == Op::Input) {
      const int axis = axes_[static_cast<size_t>(node.attrs.integer)];
      return axis < 0 ? shared(node) : batched(axis);
    }
    if (std::ranges::any_of(node.inputs, [this](NodeId id) { return of(id).mixed; }))
      return mixed();
    if (std::ranges::all_of(node.inputs, [this](NodeId id) { return of(id).axis < 0; }))
      return shared(node);
    switch (graph::op_info(node.op).kind) {
      case OpKind::Pointwise:
        return with_common(node);
      case OpKind::Reduction:
      case OpKind::Scan:
      case OpKind::Selection:
        return contains(node.attrs.dims, of(node.inputs[0]).axis)
                   ? mixed()
                   : batched(of(node.inputs[0]).axis);
      case OpKind::Contraction:
        return follow_matmul(node);
      case OpKind::Movement:
        return follow_movement(node);
      case OpKind::Source:
        return mixed();  // random numbers depend on their position
    }
    return mixed();
  }

  Rows with_common(const Node& node) const {
    const std::optional<int> axis = common_axis(node.inputs);
    return axis && *axis >= 0 ? batched(*axis) : mixed();
  }

  Rows follow_matmul(const Node& node) const {
    const NodeId a = node.inputs[0], b = node.inputs[1];
    const int rank = static_cast<int>(node.shape.size());
    if (of(a).axis == rank - 2 && of(b).axis < 0) return batched(rank - 2);
    if (of(b).axis == rank - 1 && of(a).axis < 0) return batched(rank - 1);
    const std::optional<int> axis = common_axis(node.inputs);
    return axis && *axis >= 0 && *axis < rank - 2 ? batched(*axis) : mixed();
  }

  Rows follow_movement(const Node& node) const {
    const NodeId x = node.inputs[0];
    const int axis = of(x).axis;
    const Node& from = graph_[x];
    switch (node.op) {
      case Op::Reshape:
        return follow_reshape(from, axis, node);
      case Op::Permute: {
        const auto at = std::ranges::find(node.attrs.dims, axis);
        return batched(static_cast<int>(at - node.attrs.dims.begin()));
      }
      case Op::Expand: {
        const int to =
            axis + static_cast<int>(node.shape.size()) - static_cast<int>(from.shape.size());
        return extent(node, to) == extent(from, axis) ? batched(to) : mixed();
      }
      case Op::Slice: {
        const bool whole = extent(node, axis) == extent(from, axis) &&
                           node.attrs.starts[static_cast<size_t>(axis)].value() == 0;
        return whole ? batched(axis) : mixed();
      }
      case Op::Pad:
        return extent(node, axis) == extent(from, axis) ? batched(axis) : mixed();
      case Op::Window:
      case Op::Fold:  // the input of a Fold and the result of a Window have one more dim, the last
        if (axis >= static_cast<int>(node.shape.size())) return mixed();
        return contains(node.attrs.dims, axis) ? mixed() : batched(axis);
      case Op::Flip:
        return contains(node.attrs.dims, axis) ? mixed() : batched(axis);
      case Op::IndexSelect:
        return follow_index_select(node);
      default: {  // Concat, Gather, Scatter: must not act along the batch
        const Rows rows = with_common(node);
        if (rows.mixed || contains(node.attrs.dims, rows.axis)) return mixed();
        // Gather and Scatter may take fewer positions than there are.
        return same_extent(node, rows.axis) ? rows : mixed();
      }
    }
  }

  bool same_extent(const Node& node, int axis) const {
    return std::ranges::all_of(node.inputs, [&](NodeId id) {
      return of(id).axis < 0 || extent(graph_[id], axis) == extent(node, axis);
    });
  }

  Rows follow_index_select(const Node& node) const {
    const Rows& x = of(node.inputs[0]);
    const Rows& index = of(node.inputs[1]);
    const int dim = node.attrs.dims[0];
    if (index.axis < 0) return x.axis == dim ? mixed() : batched(x.axis);
    return x.axis < 0 ? batched(dim) : mixed();
  }

  // The axis stays if the number of elements before it and its extent are unchanged.
  static Rows follow_reshape(const Node& from, int axis, const Node& to) {
    const int64_t before = count_before(from, axis);
    for (int i = 0; i < static_cast<int>(to.shape.size()); ++i) {
      if (count_before(to, i) == before && extent(to, i) == extent(from, axis)) return batched(i);
    }
    return mixed();
  }

  const Graph& graph_;
  std::vector<int> axes_;
  std::vector<Rows> rows_;
};

bool is_symbol(const std::string& text) {
  return !text.empty() && (text[0] < '0' || text[0] > '9') &&
         text.find_first_of(" ()+-*/,") == std::string::npos;
}

// Returns the axis of this dim per input (-1: none); not set when an input has the dim twice.
std::optional<std::vector<int>> axes_of(const Graph& graph, const std::string& name) {
  std::vector<int> axes;
  for (const graph::NamedNode& input : graph.inputs) {
    const graph::Shape& shape = graph[input.node].shape;
    axes.push_back(-1);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i].text() != name) continue;
      if (axes.back() >= 0) return std::nullopt;
      axes.back() = static_cast<int>(i);
    }
  }
  return axes;
}

// Whether a constant or a slice depends on the dim; splitting the dim would then change more than
// the number of rows.
bool used_elsewhere(const Graph& graph, const std::string& name) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return mentions(node.attrs.starts, name) || mentions(node.attrs.number_text, name);
  });
}

}  // namespace

std::vector<Relation> row_relations(const Graph& graph) {
  std::set<std::string> names;
  for (const graph::NamedNode& input : graph.inputs) {
    for (const graph::Dim& dim : graph[input.node].shape) {
      if (is_symbol(dim.text())) names.insert(dim.text());
    }
  }
  std::vector<Relation> relations;
  for (const std::string& name : names) {
    const auto axes = axes_of(graph, name);
    if (!axes) continue;
    RowSearch search(graph, *axes);
    const auto outputs = search.output_axes();
    if (!outputs) continue;
    Relation permute;
    permute.kind = RelationKind::Permute;
    permute.what = fmt::format("places along {} may be permuted", name);
    permute.dim = name;
    permute.input_axes = *axes;
    permute.output_axes = *outputs;
    Relation split = permute;
    split.kind = RelationKind::Split;
    split.what = fmt::format("a part of {} gives that part of the result", name);
    relations.push_back(std::move(permute));
    const bool whole = used_elsewhere(graph, name) || search.knows_extent(name) ||
                       !search.give_rows(split.output_axes, name);
    if (!whole) relations.push_back(std::move(split));
  }
  return relations;
}

std::vector<Relation> find_relations(const Graph& graph) {
  std::vector<Relation> relations = row_relations(graph);
  for (Relation& relation : value_relations(graph)) relations.push_back(std::move(relation));
  return relations;
}

}  // namespace kw::gate
