// The problem: scans, sorts and searches run along one dim of tensors of any rank. The choice: all
// other dims are joined to as few axes as the accesses allow, and numbered as rows. The
// alternative, permuting the tensor first, would cost a pass over memory. The cost: rows with
// several axes need one division per axis.
#include "emit/row_loop.h"

#include <fmt/core.h>

#include <algorithm>

#include "emit/row_frame.h"

namespace kw::generate {

namespace {

using Places = std::vector<std::pair<NodeId, Index>>;

/// The indices used when these nodes are computed at these elements.
std::vector<Dim> used_by(const Region& region, const Domain& domain, const Places& places,
                         const std::set<NodeId>& hooked) {
  Emitter dry(region);
  dry.ranges = ranges_of(domain);
  std::vector<std::string> names;
  for (const Axis& dim : domain.dims) names.push_back(dim.name);
  dry.open(names, 0);
  dry.on_node = [&](NodeId id, const Index&) -> std::optional<Value> {
    if (hooked.count(id) == 0) return std::nullopt;
    return Value{{"0"}, 1};
  };
  for (const auto& [id, at] : places) dry.value(id, at);
  return dry.used().indices;
}

std::vector<Dim> used_by(const Region& region, const Domain& domain,
                         const std::vector<NodeId>& values, const std::set<NodeId>& hooked) {
  Places places;
  for (const NodeId id : values) places.emplace_back(id, domain.index);
  return used_by(region, domain, places, hooked);
}

/// Where the stores are computed from results of this shape, which differs along one axis.
Places places_of_results(const Region& region, const Domain& domain, const Shape& results) {
  Index index = domain.index;
  for (size_t d = 0; d < results.size(); ++d)
    if (results[d].is_constant() && results[d].value() == 1) index[d] = Dim(0);
  Places places;
  for (const Store& store : region.stores) {
    if (graph::count_of(store.to.shape).same_text(graph::count_of(results)))
      places.emplace_back(store.node, reshaped(results, index, store.to.shape, ranges_of(domain)));
  }
  return places;
}

void add_stores(const Region& region, const Shape& shape, const Domain& domain,
                std::vector<Dim>& used) {
  for (const Store& store : region.stores)
    if (same_shape(store.to.shape, shape)) used.push_back(linear(shape, domain.index));
}

/// A single axis gets the name of the whole.
void name_whole(Joined& joined, const std::string& whole) {
  if (joined.axes.size() > 1) return;
  const std::string old = joined.axes[0].name;
  joined.axes[0].name = whole;
  for (auto& [name, to] : joined.rename)
    if (mentions(to, old)) to = variable(whole);
}

}  // namespace

void write_parts(const std::vector<Axis>& axes, const std::string& whole, Emitter& e,
                 CudaWriter& w) {
  if (axes.size() > 1) write_axes(axes, whole, e, w);
}

void write_axes(const std::vector<Axis>& axes, std::string left, Emitter& e, CudaWriter& w) {
  for (size_t a = axes.size(); a-- > 0;) {
    e.note(axes[a].extent);
    const std::string by = as_factor(axes[a].extent);
    w.line(a == 0 ? fmt::format("const Index {} = {};", axes[a].name, left)
                  : fmt::format("const Index {} = {} % {};", axes[a].name, left, by));
    left = fmt::format("{} / {}", left, by);
  }
}

RowLoop::RowLoop(const Region& region, const Shape& shape, size_t axis,
                 const std::vector<NodeId>& values, const std::set<NodeId>& hooked,
                 const Shape& results)
    : domain_(make_domain(shape, "i")), axis_(axis) {
  const std::string name = fmt::format("i{}", axis);
  Domain kept = domain_;
  std::erase_if(kept.dims, [&](const Axis& dim) { return dim.name == name; });
  if (kept.dims.size() != domain_.dims.size()) along_ = name;
  std::vector<Dim> used = used_by(region, domain_, values, hooked);
  add_stores(region, shape, domain_, used);
  for (const Dim& one :
       used_by(region, domain_, places_of_results(region, domain_, results), hooked))
    used.push_back(one);
  rows_ = joined(kept, used, {"minor", "major"});
  name_whole(rows_, "row");
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

std::vector<std::string> RowLoop::element_variables(const std::string& counter) const {
  std::vector<std::string> own = {counter};
  if (!along_.empty()) own.push_back(along_);
  return own;
}

std::map<std::string, Dim> RowLoop::rename(const Dim& column) const {
  std::map<std::string, Dim> by = rows_.rename;
  if (!along_.empty()) by.insert_or_assign(along_, column);
  return by;
}

void RowLoop::write_row(Emitter& e, CudaWriter& w) const { write_parts(rows_.axes, "row", e, w); }

bool RowLoop::rows_are_adjacent() const {
  for (size_t d = axis_ + 1; d < domain_.shape.size(); ++d)
    if (!domain_.shape[d].is_constant() || domain_.shape[d].value() != 1) return true;
  return false;
}

ReducedLoop::ReducedLoop(const Region& region, const Shape& shape, const std::vector<int>& dims,
                         const std::vector<NodeId>& values, const std::set<NodeId>& hooked)
    : domain_(make_domain(shape, "i")), dims_(dims) {
  Domain kept = domain_, reduced = domain_;
  const auto is_reduced = [&](const Axis& axis) {
    return std::ranges::any_of(dims, [&](int d) { return axis.name == fmt::format("i{}", d); });
  };
  std::erase_if(kept.dims, is_reduced);
  std::erase_if(reduced.dims, [&](const Axis& axis) { return !is_reduced(axis); });
  std::vector<Dim> used = used_by(region, domain_, values, hooked);
  add_stores(region, shape, domain_, used);
  kept_ = joined(kept, used, {"minor", "major"});
  name_whole(kept_, "row");
  reduced_ = joined(reduced, used, {"inner_column", "outer_column"});
  name_whole(reduced_, "column");
}

Index ReducedLoop::result_index() const {
  Index index = domain_.index;
  for (const int dim : dims_) index[static_cast<size_t>(dim)] = Dim(0);
  return index;
}

Shape ReducedLoop::result_shape() const {
  Shape shape = domain_.shape;
  for (const int dim : dims_) shape[static_cast<size_t>(dim)] = Dim(1);
  return shape;
}

std::vector<std::string> ReducedLoop::axes() const {
  std::vector<std::string> names = {"row", "column"};
  for (const Joined* joined : {&kept_, &reduced_})
    for (const Axis& axis : joined->axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> ReducedLoop::inner_variables() const {
  std::vector<std::string> names;
  for (const auto& [name, to] : kept_.rename)
    if (mentions(to, inner())) names.push_back(name);
  return names;
}

std::vector<std::string> ReducedLoop::outer_variables() const {
  std::vector<std::string> names = {"row"};
  for (const Axis& axis : kept_.axes)
    if (axis.name != "row") names.push_back(axis.name);
  for (const auto& [name, to] : kept_.rename)
    if (!mentions(to, inner())) names.push_back(name);
  return names;
}

std::vector<std::string> ReducedLoop::column_variables() const {
  std::vector<std::string> names = {"column"};
  for (const Axis& axis : reduced_.axes)
    if (axis.name != "column") names.push_back(axis.name);
  for (const auto& [name, to] : reduced_.rename) names.push_back(name);
  return names;
}

std::map<std::string, Dim> ReducedLoop::rename(const Dim& lane) const {
  std::map<std::string, Dim> by = reduced_.rename;
  for (const auto& [name, to] : kept_.rename)
    by.insert_or_assign(name, mentions(to, inner()) ? to + lane : to);
  return by;
}

void ReducedLoop::write_row(Emitter& e, CudaWriter& w) const {
  write_parts(kept_.axes, "row", e, w);
}

void ReducedLoop::write_column(Emitter& e, CudaWriter& w) const {
  write_parts(reduced_.axes, "column", e, w);
}

void RowFrame::open_row() {
  e_.open(loop_.row_variables(), 0, 0);
  length_ = e_.text(loop_.length());
  rows_ = e_.text(loop_.rows());
  e_.on_load = [this](const Buffer& buffer, const Dim& address) {
    return packs_.value(buffer, address, in_memory_, lane_scope_);
  };
}

void RowFrame::open_pack(int deeper, const std::vector<std::string>& variables) {
  const int pack_scope = e_.open(variables, 1, deeper);
  lane_scope_ = e_.open(loop_.element_variables(kLane), pack_scope);
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

std::string scratch_name(const Region& region, const std::string& what) {
  std::string name = region.name + "_" + what;
  while (region.taken.count(name) > 0) name += "_";
  return name;
}

}  // namespace kw::generate
