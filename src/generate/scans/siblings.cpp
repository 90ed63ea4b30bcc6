#include "scans/siblings.h"

#include <fmt/core.h>

namespace kw::generate {

std::optional<Siblings> siblings_of(
    const Region& region, const std::function<bool(const Node& first, const Node& node)>& alike) {
  if (!region.in_place.empty()) return std::nullopt;
  Siblings siblings;
  for (const NodeId id : heavy_nodes(region)) {
    const Node& node = region.node(id);
    if (siblings.first == nullptr) siblings.first = &node;
    const Node& first = *siblings.first;
    if (!alike(first, node) || node.inputs[0] != first.inputs[0] ||
        node.attrs.dims != first.attrs.dims)
      return std::nullopt;
    siblings.input = node.inputs[0];
    siblings.nodes.insert(id);
  }
  if (siblings.first == nullptr || depends_on(region, siblings.input, siblings.nodes))
    return std::nullopt;
  return siblings;
}

void cut_rows(KernelBuilder& kernel, const std::string& length, const std::string& tile,
              const std::string& groups) {
  const std::string own = kernel.let("TILE", tile);
  const std::string wish =
      kernel.let("WISH", fmt::format("max(1, min(ceil_div({}, {}), ceil_div(SMS * 4, max({}, 1))))",
                                     length, own, groups));
  const std::string part = kernel.let(
      "PART", fmt::format("max(1, ceil_div(ceil_div({}, {}), {})) * {}", length, wish, own, own));
  kernel.let("PARTS", fmt::format("ceil_div({}, {})", length, part));
}

void write_part(CudaWriter& w, const std::string& length) {
  w.line("const Index parts = ({} + part_length - 1) / part_length;", length);
  w.line("const Index row = blockIdx.x / parts, part = blockIdx.x % parts;");
  w.line("const Index begin = part * part_length;");
  w.line("const Index end = {0} - begin < part_length ? {0} : begin + part_length;", length);
}

bool store_results(Emitter& e, int level, const Shape& shape, const Index& row) {
  for (const Store& store : e.region().stores) {
    if (!graph::count_of(store.to.shape).same_text(graph::count_of(shape))) return false;
    const Index at = reshaped(shape, row, store.to.shape, e.ranges);
    const Value value = e.value(store.node, at);
    e.store(level, store, linear(store.to.shape, at), value);
  }
  return true;
}

}  // namespace kw::generate
