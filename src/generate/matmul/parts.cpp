// The problem: a dim of a product stands for several: rows of pixels, channels and taps. Finding
// them from one index needs divisions. The choice: follow reshapes, permutes and expands below the
// operands and above the result, to find the dims that each index consists of. A run is then split
// once and not at every load. The alternative, divisions in every access, costs more than many
// loads. The cost: only movement without overlap is understood; otherwise the dim stays whole.
#include <algorithm>

#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

namespace {

bool is_single(const Dim& dim) { return dim.is_constant() && dim.value() == 1; }

/// The dims of `to` that number the same elements as dim `d` of `from` alone, without those of
/// extent 1. Empty if other dims are numbered with it.
std::vector<size_t> same_numbers(const Shape& from, size_t d, const Shape& to) {
  for (const Group& group : groups_of(from, to)) {
    if (d < group.from_begin || d >= group.from_end) continue;
    for (size_t i = group.from_begin; i < group.from_end; ++i) {
      if (i != d && !is_single(from[i])) return {};
    }
    std::vector<size_t> dims;
    Dim count(1);
    for (size_t i = group.to_begin; i < group.to_end; ++i) {
      if (is_single(to[i])) continue;
      dims.push_back(i);
      count = count * to[i];
    }
    return count.same_text(from[d]) ? dims : std::vector<size_t>{};
  }
  return {};
}

Shape chosen(const Shape& shape, const std::vector<size_t>& dims) {
  Shape out;
  for (const size_t d : dims) out.push_back(shape[d]);
  return out;
}

class Below {
 public:
  explicit Below(const Region& region) : region_(region) {}

  Shape parts(NodeId id, size_t d) {
    const Node& node = region_.node(id);
    const Shape own = {node.shape[d]};
    if (region_.loads.count(id) > 0 || !seen_.insert({id, d}).second) return own;
    if (graph::op_info(node.op).kind == OpKind::Pointwise) {
      for (const NodeId input : node.inputs) {
        Shape found = parts(input, d);
        if (found.size() > 1) return found;
      }
      return own;
    }
    if (node.op == Op::Reshape) return reshaped_parts(id, d);
    const std::optional<size_t> below = dim_below(node, d);
    return below ? parts(node.inputs[0], *below) : own;
  }

 private:
  Shape reshaped_parts(NodeId id, size_t d) {
    const Node& node = region_.node(id);
    const NodeId before = before_reshapes(region_, id);
    const Shape own = {node.shape[d]};
    if (region_.loads.count(before) > 0) return own;
    const Shape& shape = region_.node(before).shape;
    const std::vector<size_t> dims = same_numbers(node.shape, d, shape);
    if (dims.empty()) return own;
    Shape found;
    for (const size_t one : dims) {
      const Shape below = parts(before, one);
      found.insert(found.end(), below.begin(), below.end());
    }
    return found;
  }

  /// The dim of a moved tensor that has the same index as this one.
  std::optional<size_t> dim_below(const Node& node, size_t d) const {
    if (node.op == Op::Permute) return static_cast<size_t>(node.attrs.dims[d]);
    if (node.op != Op::Expand) return std::nullopt;
    const Shape& shape = region_.node(node.inputs[0]).shape;
    const size_t missing = node.shape.size() - shape.size();
    if (d < missing || !shape[d - missing].same_text(node.shape[d])) return std::nullopt;
    return d - missing;
  }

  const Region& region_;
  std::set<std::pair<NodeId, size_t>> seen_;
};

class Above {
 public:
  Above(const Region& region, NodeId node, size_t d) : region_(region), node_(node), dim_(d) {}

  Shape parts() {
    for (const Store& store : region_.stores) dim_above(store.node);
    return parts_.empty() ? Shape{region_.node(node_).shape[dim_]} : parts_;
  }

 private:
  /// The dim of this node with the same index as the dim of interest; notes where it is split.
  std::optional<size_t> dim_above(NodeId id) {
    if (id == node_) return dim_;
    if (region_.loads.count(id) > 0) return std::nullopt;
    const auto known = dims_.find(id);
    if (known != dims_.end()) return known->second;
    std::optional<size_t> found;
    for (const NodeId input : region_.node(id).inputs) {
      const std::optional<size_t> below = dim_above(input);
      if (below && !found) found = carried(region_.node(id), region_.node(input).shape, *below);
    }
    dims_[id] = found;
    return found;
  }

  std::optional<size_t> carried(const Node& node, const Shape& from, size_t d) {
    if (graph::op_info(node.op).kind == OpKind::Pointwise) return d;
    if (node.op == Op::Permute) {
      const auto at = std::ranges::find(node.attrs.dims, static_cast<int>(d));
      return static_cast<size_t>(at - node.attrs.dims.begin());
    }
    if (node.op != Op::Reshape) return std::nullopt;
    const std::vector<size_t> dims = same_numbers(from, d, node.shape);
    if (dims.size() == 1) return dims[0];
    if (dims.size() > 1 && parts_.empty()) parts_ = chosen(node.shape, dims);
    return std::nullopt;
  }

  const Region& region_;
  NodeId node_;
  size_t dim_;
  std::map<NodeId, std::optional<size_t>> dims_;
  Shape parts_;
};

}  // namespace

Shape parts_below(const Region& region, NodeId node, size_t d) {
  return Below(region).parts(node, d);
}

Shape parts_above(const Region& region, NodeId node, size_t d) {
  return Above(region, node, d).parts();
}

}  // namespace kw::generate
