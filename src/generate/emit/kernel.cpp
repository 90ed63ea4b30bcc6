#include "emit/kernel.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "text/text.h"

namespace kw::generate {

namespace {

constexpr int64_t kIntRoom = 2000000000;

/// The positions of window elements are never computed: windows have more elements than memory
/// does, and only their dims are used.
bool is_window(const Region& region, NodeId id, const std::set<NodeId>& windows) {
  const Node& node = region.node(id);
  if (node.op == Op::Window) return true;
  const OpKind kind = graph::op_info(node.op).kind;
  if (is_heavy(node.op) || (kind != OpKind::Pointwise && kind != OpKind::Movement)) {
    return false;
  }
  return std::ranges::any_of(node.inputs, [&](NodeId input) { return windows.count(input) > 0; });
}

/// The dims that a reshape numbers together.
std::vector<Shape> numbered_parts(const Region& region, NodeId id) {
  const Node& node = region.node(id);
  if (node.op != Op::Reshape) return {};
  std::vector<Shape> parts;
  for (const Group& group : groups_of(region.node(node.inputs[0]).shape, node.shape)) {
    parts.emplace_back(node.shape.begin() + static_cast<long>(group.to_begin),
                       node.shape.begin() + static_cast<long>(group.to_end));
  }
  return parts;
}

}  // namespace

std::string fits_int(const Region& region) {
  std::vector<std::string> conditions;
  const auto add = [&](const Shape& shape) {
    const Dim count = graph::count_of(shape);
    if (!count.is_constant()) {
      conditions.push_back(fmt::format("{} <= {}", count.text(), kIntRoom));
    } else if (count.value() > kIntRoom) {
      conditions.push_back("false");
    }
  };
  for (const Store& store : region.stores) add(store.to.shape);
  std::set<NodeId> windows;
  for (const NodeId id : interior(region)) {
    if (is_window(region, id, windows)) {
      windows.insert(id);
      for (const Shape& part : numbered_parts(region, id)) add(part);
    } else {
      add(region.node(id).shape);
    }
    for (const NodeId input : region.node(id).inputs) {
      const auto found = region.loads.find(input);
      if (found != region.loads.end()) add(found->second.shape);
    }
  }
  return all_of(conditions);
}

std::string all_of(const std::vector<std::string>& conditions) {
  std::vector<std::string> kept;
  const auto keep = [&](const std::string& condition) {
    if (condition.empty() || contains(kept, condition)) return;
    kept.push_back(condition);
  };
  for (const std::string& condition : conditions) {
    if (condition.find("||") != std::string::npos) {
      keep("(" + condition + ")");
      continue;
    }
    size_t at = 0;
    for (size_t end = 0; end != std::string::npos; at = end + 4) {
      end = condition.find(" && ", at);
      keep(condition.substr(at, end == std::string::npos ? end : end - at));
    }
  }
  return join(kept, " && ");
}

}  // namespace kw::generate
