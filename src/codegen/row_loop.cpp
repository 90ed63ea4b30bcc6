#include "codegen/row_loop.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::codegen {

using graph::NodeId;
using graph::OpKind;

RowLoop::RowLoop(const Region& region, const Shape& shape, size_t axis,
                 const std::vector<NodeId>& values, const std::set<NodeId>& hooked)
    : domain_(make_domain(shape, "i")), axis_(axis) {
  const std::string name = fmt::format("i{}", axis);
  Domain kept = domain_;
  std::erase_if(kept.dims, [&](const Axis& dim) { return dim.name == name; });
  if (kept.dims.size() != domain_.dims.size()) along_ = name;
  Emitter dry(region);
  dry.ranges = ranges_of(domain_);
  std::vector<std::string> names;
  for (const Axis& dim : domain_.dims) names.push_back(dim.name);
  dry.open(names, 0);
  dry.on_node = [&](NodeId id, const Index&) -> std::optional<Value> {
    if (hooked.count(id) == 0) return std::nullopt;
    return Value{{"0"}, 1};
  };
  for (const NodeId id : values) dry.value(id, domain_.index);
  std::vector<Dim> used = dry.used_indices();
  for (const Store& store : region.stores)
    if (same_shape(store.to.shape, shape)) used.push_back(linear(shape, domain_.index));
  rows_ = joined(kept, used, {"minor", "major"});
  if (rows_.axes.size() > 1) return;
  rows_.axes[0].name = "row";
  for (auto& [variable_name, to] : rows_.rename)
    if (mentions(to, "minor")) to = variable("row");
}

Index RowLoop::index_at(const Dim& along) const {
  Index index = domain_.index;
  index[axis_] = along;
  return index;
}

std::vector<std::string> RowLoop::row_variables() const {
  std::vector<std::string> names = {"row"};
  for (const Axis& axis : rows_.axes)
    if (axis.name != "row") names.push_back(axis.name);
  for (const Axis& dim : domain_.dims)
    if (dim.name != along_) names.push_back(dim.name);
  return names;
}

Dim RowLoop::rows() const {
  Dim rows(1);
  for (const Axis& axis : rows_.axes) rows = rows * axis.extent;
  return rows;
}

std::map<std::string, Dim> RowLoop::rename(const Dim& column) const {
  std::map<std::string, Dim> by = rows_.rename;
  if (!along_.empty()) by.insert_or_assign(along_, column);
  return by;
}

void RowLoop::write_row(Emitter& e, CudaWriter& w) const {
  if (rows_.axes.size() == 1) return;
  std::string left = "row";
  for (size_t a = rows_.axes.size(); a-- > 0;) {
    const Axis& axis = rows_.axes[a];
    e.note(axis.extent);
    const std::string by = as_factor(axis.extent);
    w.line(a == 0 ? fmt::format("const Index {} = {};", axis.name, left)
                  : fmt::format("const Index {} = {} % {};", axis.name, left, by));
    left = fmt::format("{} / {}", left, by);
  }
}

bool RowLoop::rows_are_adjacent() const {
  for (size_t d = axis_ + 1; d < domain_.shape.size(); ++d)
    if (!domain_.shape[d].is_constant() || domain_.shape[d].value() != 1) return true;
  return false;
}

bool same_shape(const Shape& a, const Shape& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Dim& x, const Dim& y) { return x.same_text(y); });
}

bool depends_on(const Region& region, NodeId node, const std::set<NodeId>& roots) {
  std::set<NodeId> seen;
  std::vector<NodeId> open = {node};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (roots.count(id) > 0) return true;
    if (region.loads.count(id) > 0 || !seen.insert(id).second) continue;
    for (const NodeId input : region.node(id).inputs) open.push_back(input);
  }
  return false;
}

bool stores_follow(const Region& region, const std::set<NodeId>& roots, const Shape& shape) {
  std::vector<NodeId> open;
  std::set<NodeId> seen;
  for (const Store& store : region.stores) {
    if (!same_shape(region.node(store.node).shape, shape)) return false;
    open.push_back(store.node);
  }
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (roots.count(id) > 0 || !seen.insert(id).second || !depends_on(region, id, roots)) continue;
    if (graph::op_info(region.node(id).op).kind != OpKind::Pointwise) return false;
    for (const NodeId input : region.node(id).inputs) open.push_back(input);
  }
  return true;
}

std::string as_factor(const Dim& dim) {
  const std::string text = dim.text();
  const bool simple = text.find_first_of("+-*/% ") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

}  // namespace kw::codegen
