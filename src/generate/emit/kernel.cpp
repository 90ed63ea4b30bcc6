#include "emit/kernel.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "text/text.h"

namespace kw::generate {

namespace {

constexpr int64_t kIntRoom = 2000000000;
// Parameters stand below the first one, or further left where the longest does not fit there.
constexpr size_t kColumns = 98, kMostAligned = 60, kContinued = 4;

/// Elements of windows are never numbered as a whole: there are more of them than anywhere in
/// memory, and only their dims are counted.
bool is_window(const Region& region, graph::NodeId id, const std::set<graph::NodeId>& windows) {
  const graph::Node& node = region.node(id);
  if (node.op == graph::Op::Window) return true;
  const graph::OpKind kind = graph::op_info(node.op).kind;
  if (is_heavy(node.op) || (kind != graph::OpKind::Pointwise && kind != graph::OpKind::Movement)) {
    return false;
  }
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](graph::NodeId input) { return windows.count(input) > 0; });
}

/// Dims that a reshape numbers together.
std::vector<Shape> numbered_parts(const Region& region, graph::NodeId id) {
  const graph::Node& node = region.node(id);
  if (node.op != graph::Op::Reshape) return {};
  std::vector<Shape> parts;
  for (const Group& group : groups_of(region.node(node.inputs[0]).shape, node.shape)) {
    parts.emplace_back(node.shape.begin() + static_cast<long>(group.to_begin),
                       node.shape.begin() + static_cast<long>(group.to_end));
  }
  return parts;
}

}  // namespace

KernelSignature signature_of(const Emitter& e, const std::string& name,
                             const std::string& templates, const std::string& bounds,
                             const std::vector<std::pair<std::string, std::string>>& more) {
  const Region& region = e.region();
  std::vector<std::string> parameters;
  KernelSignature head;
  std::set<std::string> seen;
  const auto pointer = [&](const Buffer& buffer, bool writes) {
    if (e.used_buffers().count(buffer.name) == 0 || !seen.insert(buffer.name).second) return;
    const bool both = writes && region.in_place.count(buffer.name) > 0;
    parameters.push_back(fmt::format("{}{}*{} {}", writes ? "" : "const ",
                                     memory_type(buffer.dtype), both ? "" : " __restrict__",
                                     buffer.name));
    head.args.push_back(buffer.name);
  };
  for (const Store& store : region.stores) {
    if (region.in_place.count(store.to.name) > 0) pointer(store.to, true);
  }
  for (const auto& [node, buffer] : region.loads) pointer(buffer, false);
  for (const Store& store : region.stores) pointer(store.to, true);
  for (const std::string& dim : e.parameters()) {
    parameters.push_back("Index " + dim);
    head.args.push_back(dim);
  }
  for (const auto& [declaration, argument] : more) {
    parameters.push_back(declaration);
    head.args.push_back(argument);
  }
  head.text =
      fmt::format("template <{}>\n__global__ void{} {}(", templates,
                  bounds.empty() ? "" : fmt::format(" __launch_bounds__({})", bounds), name);
  size_t column = head.text.size() - head.text.rfind('\n') - 1;
  size_t longest = 0;
  for (const std::string& one : parameters) longest = std::max(longest, one.size() + 1);
  const size_t aligned = std::min(column, kMostAligned);
  const std::string indent(aligned + longest > kColumns ? kContinued : aligned, ' ');
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string piece = parameters[i] + (i + 1 < parameters.size() ? "," : ")");
    if (column + piece.size() + (i > 0 ? 1 : 0) > kColumns) {
      head.text += "\n" + indent;
      column = indent.size();
    } else if (i > 0) {
      head.text += " ";
      ++column;
    }
    head.text += piece;
    column += piece.size();
  }
  if (parameters.empty()) head.text += ")";
  return head;
}

std::string add_items(Kernel& kernel, const std::string& name, const std::string& count) {
  kernel.lets.emplace_back(name, count);
  kernel.lets.emplace_back(
      name + "_ITEMS",
      fmt::format("1 + ({0} > 1) + ({0} > 2) + ({0} > 3) + 2 * ({0} > 4) + 2 * ({0} > 6) + "
                  "4 * ({0} > 8) + 4 * ({0} > 12)",
                  name));
  return name + "_ITEMS";
}

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
  std::set<graph::NodeId> windows;
  for (const graph::NodeId id : interior(region)) {
    if (is_window(region, id, windows)) {
      windows.insert(id);
      for (const Shape& part : numbered_parts(region, id)) add(part);
    } else {
      add(region.node(id).shape);
    }
    for (const graph::NodeId input : region.node(id).inputs) {
      const auto found = region.loads.find(input);
      if (found != region.loads.end()) add(found->second.shape);
    }
  }
  return all_of(conditions);
}

std::string all_of(const std::vector<std::string>& conditions) {
  std::vector<std::string> kept;
  const auto keep = [&](const std::string& condition) {
    if (condition.empty() || std::find(kept.begin(), kept.end(), condition) != kept.end()) return;
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
