// The problem: products, convolutions and gradients differ only in how their operands are
// addressed. The choice: one product of [batch, m, k] and [batch, k, n] whose operands are read
// through index arithmetic. The alternative, a kernel per kind of convolution, would know its
// windows better. The cost: running indices are split by divisions, which lookups and phases avoid
// if possible.
#include <fmt/core.h>

#include <cstdlib>

#include "core/text.h"
#include "emit/emit.h"
#include "matmul/matmul.h"

namespace kw::generate {

namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

constexpr int64_t kFarApart = 8;  // elements: they share no sector

/// The number of adjacent indices of the run that are adjacent in memory, forwards or backwards.
int64_t reach(const AxisRun& run, const Dim& address) {
  if (run.domain.dims.empty()) return 1;
  const auto step = coefficient(address, run.domain.dims.back().name);
  if (!step || !step->is_constant()) return 1;
  const int64_t apart = std::abs(step->value());
  return apart == 0 || apart >= kFarApart ? 1 : run.inner().extent.value() / apart;
}

}  // namespace

bool reads_windows(const Region& region, NodeId node) {
  std::set<NodeId> windows;
  for (const NodeId id : interior(region)) {
    if (region.node(id).op == Op::Window) windows.insert(id);
  }
  return depends_on(region, node, windows);
}

std::vector<std::string> AxisRun::variables() const {
  std::vector<std::string> names = {name};
  for (const Axis& dim : domain.dims) names.push_back(dim.name);
  for (const Axis& axis : axes.axes) {
    if (axis.name != name) names.push_back(axis.name);
  }
  return names;
}

void AxisRun::write(Emitter& e, CudaWriter& w) const {
  std::vector<Axis> parts = axes.axes;
  for (Axis& part : parts) {
    if (ranged.count(part.name) == 0) continue;
    part = {part.name + "_part", variable(part.name + "_many")};
  }
  write_parts(parts, name, e, w);
  for (const std::string& axis : ranged) w.line("const Index {0} = {0}_from + {0}_part;", axis);
}

std::vector<std::string> View::variables() const {
  std::vector<std::string> names = row.variables();
  append(names, column.variables());
  return names;
}

int DirectRead::find(Emitter& e, NodeId node, const Index& index, DType dtype) {
  int loads = 0;
  e.on_load = [&](const Buffer& from, const Dim& at) -> std::optional<Value> {
    ++loads;
    address = at;
    buffer = from.name;
    direct = from.dtype == dtype;
    e.note(at);
    return Value{{"x"}, 1};
  };
  const Value value = e.value(node, index);
  direct = direct && loads == 1 && value.expr.text == "x";
  return loads;
}

std::map<std::string, Dim> ProductOperand::rename() const {
  std::map<std::string, Dim> by = view.row.axes.rename;
  by.insert(view.column.axes.rename.begin(), view.column.axes.rename.end());
  return by;
}

Product::Product(const Region& region, NodeId node, bool strip) : region_(region), id_(node) {
  images_ = same_for_left();
  const Shape& shape = this->node().shape;
  const Shape batches(shape.begin() + static_cast<long>(images_), shape.end() - 2);
  batch_ = {"batch", make_domain(batches, "_b"), {}};
  left_ = operand_of(true, strip);
  right_ = operand_of(false, strip);
  result_ = view_of("_", "mn", parts_above(region, id_, shape.size() - 2),
                    parts_above(region, id_, shape.size() - 1), true);
  for (const AxisRun* own : all_runs())
    for (const auto& [name, extent] : ranges_of(own->domain))
      ranges_.insert_or_assign(name, extent);
  look_at_operand(left_);
  look_at_operand(right_);
  look_at_result();
  std::vector<Dim> used = left_.view.used;
  used.insert(used.end(), right_.view.used.begin(), right_.view.used.end());
  used.insert(used.end(), result_.used.begin(), result_.used.end());
  join(batch_, used);
}

/// Leading batch dims that the left operand does not depend on, if the right one reads windows.
size_t Product::same_for_left() const {
  const NodeId left = node().inputs[0];
  const size_t dims = node().shape.size() - 2;
  if (dims == 0 || !reads_windows(region_, node().inputs[1])) return 0;
  const Domain domain = make_domain(region_.node(left).shape, "_left");
  Emitter e(region_);
  e.ranges = ranges_of(domain);
  e.open(names_of(domain.dims), 0);
  e.value(left, domain.index);
  for (size_t d = 0; d < dims; ++d) {
    const std::string name = fmt::format("_left{}", d);
    for (const Dim& used : e.used().indices) {
      if (mentions(used, name)) return d;
    }
  }
  return dims;
}

View Product::view_of(const std::string& prefix, const char* letters, const Shape& rows,
                      const Shape& columns, bool has_images) const {
  Shape all;
  if (has_images) {
    all.assign(node().shape.begin(), node().shape.begin() + static_cast<long>(images_));
  }
  all.insert(all.end(), columns.begin(), columns.end());
  View view;
  view.row = {std::string(1, letters[0]) + "i", make_domain(rows, prefix + letters[0]), {}};
  view.column = {std::string(1, letters[1]) + "i", make_domain(all, prefix + letters[1]), {}};
  const Index& at = view.column.domain.index;
  view.index = has_images ? Index(at.begin(), at.begin() + static_cast<long>(images_))
                          : Index(images_, Dim(0));
  view.index.insert(view.index.end(), batch_.domain.index.begin(), batch_.domain.index.end());
  view.index.push_back(view.row.index());
  const auto own = static_cast<long>(columns.size());
  view.index.push_back(linear(columns, Index(at.end() - own, at.end())));
  return view;
}

ProductOperand Product::operand_of(bool left, bool strip) const {
  ProductOperand operand;
  operand.left = left;
  operand.tile = left ? "left" : "right";
  operand.node = node().inputs[left ? 0 : 1];
  while (strip && region_.loads.count(operand.node) == 0 &&
         region_.node(operand.node).op == Op::Cast &&
         is_half(region_.node(region_.node(operand.node).inputs[0]).dtype))
    operand.node = region_.node(operand.node).inputs[0];
  const size_t rank = node().shape.size();
  operand.view =
      view_of(left ? "_l" : "_r", left ? "mk" : "kn", parts_below(region_, operand.node, rank - 2),
              parts_below(region_, operand.node, rank - 1), !left);
  return operand;
}

std::vector<const AxisRun*> Product::all_runs() const {
  return {&batch_,      &left_.view.row, &left_.view.column, &right_.view.row, &right_.view.column,
          &result_.row, &result_.column};
}

std::vector<std::string> Product::all_variables() const {
  std::vector<std::string> names;
  for (const AxisRun* run : all_runs()) append(names, run->variables());
  return names;
}

void Product::look_at_operand(ProductOperand& operand) const {
  Emitter e(region_);
  e.ranges = ranges_;
  e.open(all_variables(), 0);
  operand.find(e, operand.node, operand.view.index, region_.node(operand.node).dtype);
  operand.view.used = e.used().indices;
  join(operand.view.row, operand.view.used);
  join(operand.view.column, operand.view.used);
  find_direction(operand);
}

void Product::find_direction(ProductOperand& operand) {
  // The last index used is that of the load.
  const Dim address = operand.view.used.empty() ? Dim(0) : operand.view.used.back();
  operand.along_k = reach(operand.k(), address) > reach(operand.side(), address);
}

void Product::look_at_result() {
  Emitter e(region_);
  e.ranges = ranges_;
  const int scope = e.open(all_variables(), 0);
  fits_ = write_stores(e, scope, "x");
  result_.used = e.used().indices;
  join(result_.row, result_.used);
  join(result_.column, result_.used);
}

void Product::join(AxisRun& run, const std::vector<Dim>& used) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < 8; ++i) names.push_back(fmt::format("{}{}", run.name[0], i));
  run.axes = joined(run.domain, used, names);
  if (run.axes.axes.size() == 1) run.axes = joined(run.domain, used, {run.name});
}

void Product::prepare(Emitter& e) const {
  e.ranges = ranges_;
  for (const AxisRun* run : all_runs()) {
    e.rename.insert(run->axes.rename.begin(), run->axes.rename.end());
    for (const std::string& axis : run->ranged) e.set_level(axis + "_many", 0);
  }
}

bool Product::write_stores(Emitter& e, int scope, const std::string& value) const {
  return write_results(region_, id_, result_.index, ranges_, e, scope, value, {}, inside_);
}

std::optional<Product> product_of(const Region& region, bool strip, Tiling tiling) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  if (heavy.size() != 1 || !region.in_place.empty()) return std::nullopt;
  if (region.node(heavy[0]).op != Op::MatMul) return std::nullopt;
  Product product(region, heavy[0], strip);
  if (!product.fits()) return std::nullopt;
  if (tiling == Tiling::Phases && !product.take_phases()) return std::nullopt;
  return product;
}

}  // namespace kw::generate
