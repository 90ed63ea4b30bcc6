#include "scans/siblings.h"

#include <fmt/core.h>

namespace kw::generate {

using graph::Node;
using graph::NodeId;

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

}  // namespace kw::generate
