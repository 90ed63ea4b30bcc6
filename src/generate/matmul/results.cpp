// The work after a product: every store at the position of the current element.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

namespace {

/// The position of the current element in a store: an index, and limits if only some elements are
/// stored.
struct Place {
  Index index;
  std::vector<std::pair<Dim, Dim>> limits;
};

struct Element {
  const Region& region;
  NodeId node;
  const Index& index;
  const Ranges& ranges;
};

std::optional<Place> place_of(const Element& of, NodeId id) {
  if (id == of.node) return Place{of.index, {}};
  if (of.region.loads.count(id) > 0) return std::nullopt;
  const Node& node = of.region.node(id);
  const auto from = std::ranges::find_if(
      node.inputs, [&](NodeId input) { return depends_on(of.region, input, {of.node}); });
  if (from == node.inputs.end()) return std::nullopt;
  std::optional<Place> below = place_of(of, *from);
  if (!below) return std::nullopt;
  if (graph::op_info(node.op).kind == OpKind::Pointwise) return below;
  Index& index = below->index;
  if (node.op == Op::Reshape) {
    index = reshaped(of.region.node(*from).shape, index, node.shape, of.ranges);
  } else if (node.op == Op::Permute) {
    Index turned;
    for (const int dim : node.attrs.dims) turned.push_back(index[static_cast<size_t>(dim)]);
    index = turned;
  } else if (node.op == Op::Slice) {
    for (size_t d = 0; d < index.size(); ++d) {
      if (node.attrs.steps[d] != 1) return std::nullopt;
      index[d] = index[d] - node.attrs.starts[d];
      below->limits.emplace_back(index[d], node.shape[d]);
    }
  } else {
    return std::nullopt;
  }
  return below;
}

}  // namespace

std::vector<Bound> bounds_of_store(const Region& region, NodeId from, const Index& index,
                                   const Ranges& ranges) {
  std::vector<Bound> bounds;
  if (region.stores.size() != 1) return bounds;
  const std::optional<Place> to = place_of({region, from, index, ranges}, region.stores[0].node);
  if (!to) return bounds;
  for (const auto& [place, extent] : to->limits) {
    if (never_negative(place) && surely_below(place, extent, ranges)) continue;
    bounds.push_back({place, Dim(0), extent});
  }
  return bounds;
}

bool write_results(const Region& region, NodeId from, const Index& index, const Ranges& ranges,
                   Emitter& e, int scope, const std::string& value, const KeepResult& keep,
                   const std::set<std::string>& inside) {
  bool in_place = true;
  e.on_node = [&](NodeId id, const Index& asked) -> std::optional<Value> {
    if (id != from) return std::nullopt;
    for (size_t d = 0; d < asked.size(); ++d) in_place = in_place && asked[d].same_text(index[d]);
    return Value{{value}, scope};
  };
  for (const Store& store : region.stores) {
    const std::optional<Place> to = place_of({region, from, index, ranges}, store.node);
    if (!to) return false;
    std::vector<std::string> tests;
    for (const auto& [place, extent] : to->limits) {
      if (inside.count(place.text()) > 0) continue;
      if (!never_negative(place)) tests.push_back(e.text(place) + " >= 0");
      if (!surely_below(place, extent, ranges)) {
        tests.push_back(fmt::format("{} < {}", e.text(place), e.text(extent)));
      }
    }
    const auto compute = [&] { return e.value(store.node, to->index); };
    std::string condition;
    Value result;
    if (tests.empty()) {
      result = compute();
    } else {
      const auto guarded = e.under(kw::join(tests, " && "), scope, compute);
      result = guarded.value;
      condition = guarded.condition;
    }
    e.touch(store.to);
    const Dim address = linear(store.to.shape, to->index);
    const std::string stored = e.stored(result, store.to.dtype);
    if (keep) {
      keep(store, address, stored, condition);
      continue;
    }
    const std::string guard = condition.empty() ? "" : fmt::format("if ({}) ", condition);
    e.at(scope).line("{}{}[{}] = {};", guard, store.to.name, e.text(address), stored);
  }
  e.on_node = nullptr;
  return in_place;
}

}  // namespace kw::generate
