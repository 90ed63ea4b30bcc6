// The problem: which reductions can share a pass over a row. The choice: levels of dependence,
// found by asking at which index each reduction needs its operand. The alternative, matching known
// patterns (softmax, layer norm), would miss all others. The cost: every query analyses the region
// again.
#include "rows/row_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/contains.h"
#include "emit/emit.h"

namespace kw::generate {

namespace {

bool is_simple_reduction(Op op) {
  return op == Op::Sum || op == Op::Prod || op == Op::Max || op == Op::Min;
}

bool has_dim(const std::vector<int>& dims, size_t d) { return contains(dims, static_cast<int>(d)); }

Shape reduced_shape(const Node& reduction, const Node& operand) {
  Shape shape;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    if (has_dim(reduction.attrs.dims, d)) shape.push_back(operand.shape[d]);
  }
  return shape;
}

RowPlan shape_after(const Node& reduction, const Node& operand) {
  RowPlan plan;
  plan.shape = operand.shape;
  plan.dims = reduction.attrs.dims;
  Shape rows;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    if (!has_dim(plan.dims, d)) rows.push_back(operand.shape[d]);
  }
  plan.rows = make_domain(rows, "_row");
  plan.columns = make_domain(reduced_shape(reduction, operand), "_column");
  size_t r = 0, c = 0;
  for (size_t d = 0; d < operand.shape.size(); ++d) {
    const bool reduced = has_dim(plan.dims, d);
    plan.at.push_back(reduced ? plan.columns.index[c++] : plan.rows.index[r++]);
    plan.kept.push_back(reduced ? Dim(0) : plan.at.back());
  }
  return plan;
}

/// Visits every reduction from the stores, and checks that it runs over the rows' own columns. Also
/// finds which reduction needs which.
class Walk {
 public:
  Walk(const Region& region, RowPlan& plan) : region_(region), plan_(plan), e_(region) {
    e_.ranges = plan.ranges();
    e_.budget = kMostStatements;
    e_.open(plan.row_variables(), 0);
    e_.open(plan.column_variables(), 1);
    e_.on_node = [this](NodeId id, const Index& index) { return visit(id, index); };
  }

  bool run() {
    for (Store store : region_.stores) {
      const bool full = plan_.is_full(store);
      if (!full && !graph::count_of(store.to.shape).same_text(plan_.row_count())) return false;
      store.node = before_reshapes(region_, store.node);
      (full ? plan_.full_stores : plan_.row_stores).push_back(store);
      e_.value(store.node, plan_.index_of(store, region_));
      e_.text(plan_.address_of(store));
      if (!fine_ || e_.overflowed()) return false;
    }
    for (const NodeId id : heavy_nodes(region_)) {
      if (keys_.count(id) == 0) return false;
    }
    sort_into_passes();
    plan_.used = e_.used().indices;
    return true;
  }

 private:
  std::optional<Value> visit(NodeId id, const Index& index) {
    const Node& node = region_.node(id);
    if (!is_heavy(node.op)) return std::nullopt;
    if (!fine_ || !enter(id, node, index)) {
      fine_ = false;
      return Value{{"0"}, 0};
    }
    return Value{{"0"}, 1};
  }

  // A reduction's pass follows those of all reductions below it.
  void sort_into_passes() {
    std::map<NodeId, size_t> stage;  // number of passes before a node
    for (const NodeId id : interior(region_)) {
      size_t own = 0;
      for (const NodeId input : region_.node(id).inputs) {
        const auto below = stage.find(input);
        if (below == stage.end()) continue;
        own = std::max(own, below->second + (keys_.count(input) > 0 ? 1 : 0));
      }
      stage[id] = own;
      if (keys_.count(id) == 0) continue;
      if (plan_.passes.size() <= own) plan_.passes.resize(own + 1);
      plan_.passes[own].push_back(id);
    }
  }

  bool enter(NodeId id, const Node& node, const Index& index) {
    if (!is_simple_reduction(node.op)) return false;
    std::string key;
    for (const Dim& dim : index) {
      for (const std::string& name : plan_.column_variables()) {
        if (mentions(dim, name)) return false;
      }
      key += dim.text() + ",";
    }
    const auto seen = keys_.find(id);
    if (seen != keys_.end()) return seen->second == key;
    const Node& operand = region_.node(node.inputs[0]);
    if (!graph::count_of(reduced_shape(node, operand)).same_text(plan_.column_count()))
      return false;
    keys_[id] = key;
    plan_.places[id] = index;
    e_.value(node.inputs[0], plan_.operand_index(node, operand, index));
    return fine_;
  }

  const Region& region_;
  RowPlan& plan_;
  Emitter e_;
  bool fine_ = true;
  std::map<NodeId, std::string> keys_;
};

}  // namespace

bool RowPlan::is_full(const Store& store) const {
  return graph::count_of(store.to.shape).same_text(row_count() * column_count());
}

Index RowPlan::index_of(const Store& store, const Region& region) const {
  const Shape& to = region.node(store.node).shape;
  if (is_full(store)) return reshaped(shape, at, to, ranges());
  return reshaped(kept_shape(), kept, to, ranges());
}

Dim RowPlan::address_of(const Store& store) const {
  return is_full(store) ? linear(shape, at) : linear(kept_shape(), kept);
}

Shape RowPlan::kept_shape() const {
  Shape out = shape;
  for (const int dim : dims) out[static_cast<size_t>(dim)] = Dim(1);
  return out;
}

Index RowPlan::operand_index(const Node& reduction, const Node& operand, const Index& index) const {
  const Shape reduced = reduced_shape(reduction, operand);
  const Index inner = reshaped(columns.shape, columns.index, reduced, ranges());
  Index out = index;
  size_t c = 0;
  for (size_t d = 0; d < out.size(); ++d) {
    if (has_dim(reduction.attrs.dims, d)) out[d] = inner[c++];
  }
  return out;
}

bool RowPlan::is_contiguous() const {
  if (columns.dims.empty() || rows.dims.empty()) return true;
  const std::string& inner = columns.dims.back().name;
  return std::ranges::any_of(used, [&](const Dim& index) {
    const auto step = coefficient(index, inner);
    return step && step->same_text(Dim(1)) && mentions(index, rows.dims.back().name);
  });
}

bool RowPlan::lies_across() const {
  if (is_contiguous()) return false;
  const std::string& inner = rows.dims.back().name;
  return std::ranges::any_of(used, [&](const Dim& index) {
    const auto step = coefficient(index, inner);
    return step && step->same_text(Dim(1)) && mentions(index, columns.dims.back().name);
  });
}

std::vector<std::string> RowPlan::row_variables() const {
  std::vector<std::string> names;
  for (const Axis& dim : rows.dims) names.push_back(dim.name);
  return names;
}

std::vector<std::string> RowPlan::column_variables() const {
  std::vector<std::string> names;
  for (const Axis& dim : columns.dims) names.push_back(dim.name);
  return names;
}

Ranges RowPlan::ranges() const {
  Ranges all = ranges_of(rows);
  for (const auto& [name, extent] : ranges_of(columns)) all.insert_or_assign(name, extent);
  return all;
}

std::optional<RowPlan> plan_rows(const Region& region) {
  const std::vector<NodeId> heavy = heavy_nodes(region);
  if (heavy.empty()) return std::nullopt;
  for (const NodeId id : heavy) {
    if (!is_simple_reduction(region.node(id).op)) return std::nullopt;
  }
  const Node& first = region.node(heavy.front());
  RowPlan plan = shape_after(first, region.node(first.inputs[0]));
  if (!Walk(region, plan).run()) return std::nullopt;
  return plan;
}

namespace {

/// Whether the sum is one of exp(x - shift), and the source of the shift.
std::optional<Rescaled> rescaled_sum(const Region& region, const Node& sum) {
  const auto inner = [&](NodeId id) { return before_reshapes(region, id); };
  if (sum.op != Op::Sum || !in_float(sum.dtype)) return std::nullopt;
  const Node& exponential = region.node(sum.inputs[0]);
  if (exponential.op != Op::Exp || region.loads.count(sum.inputs[0]) > 0) return std::nullopt;
  const Node& shifted = region.node(exponential.inputs[0]);
  if (shifted.op != Op::Sub || region.loads.count(exponential.inputs[0]) > 0) return std::nullopt;
  const Node& expanded = region.node(shifted.inputs[1]);
  if (expanded.op != Op::Expand || region.loads.count(shifted.inputs[1]) > 0) return std::nullopt;
  Rescaled found{inner(expanded.inputs[0]), true};
  if (region.node(found.max).op == Op::Where && region.loads.count(found.max) == 0) {
    found = {inner(region.node(found.max).inputs[2]), false};
  }
  const Node& max = region.node(found.max);
  const bool own = max.op == Op::Max && region.loads.count(found.max) == 0 &&
                   max.inputs[0] == shifted.inputs[0] && max.attrs.dims == sum.attrs.dims &&
                   in_float(max.dtype);
  if (!own) return std::nullopt;
  return found;
}

/// The integer value of a constant of the region.
std::optional<Dim> count_said(const Region& region, NodeId id) {
  while (region.loads.count(id) == 0 &&
         (region.node(id).op == Op::Expand || region.node(id).op == Op::Reshape)) {
    id = region.node(id).inputs[0];
  }
  const Node& node = region.node(id);
  if (region.loads.count(id) > 0 || node.op != Op::Constant) return std::nullopt;
  if (!node.attrs.starts.empty()) return node.attrs.starts[0];
  if (!node.attrs.number_text.empty()) return std::nullopt;
  const double number = node.attrs.number;
  if (number < 1 || number > 1e15 || number != std::floor(number)) return std::nullopt;
  return Dim(static_cast<int64_t>(number));
}

/// Whether the sum is one of (x - mean)^2, and the source of the mean.
std::optional<Centred> centred_sum(const Region& region, const RowPlan& plan, const Node& sum) {
  const auto inside = [&](NodeId id) { return region.loads.count(id) == 0; };
  if (sum.op != Op::Sum || !in_float(sum.dtype) || !inside(sum.inputs[0])) return std::nullopt;
  const Node& square = region.node(sum.inputs[0]);
  if (square.op != Op::Mul || square.inputs[0] != square.inputs[1]) return std::nullopt;
  const Node& apart = region.node(square.inputs[0]);
  if (apart.op != Op::Sub || !inside(square.inputs[0])) return std::nullopt;
  const Node& expanded = region.node(apart.inputs[1]);
  if (expanded.op != Op::Expand || !inside(apart.inputs[1])) return std::nullopt;
  Centred found;
  found.mean = before_reshapes(region, expanded.inputs[0]);
  const Node& mean = region.node(found.mean);
  if (mean.op != Op::Div || mean.dtype != sum.dtype || !inside(found.mean)) return std::nullopt;
  const std::optional<Dim> count = count_said(region, mean.inputs[1]);
  if (!count || !count->same_text(plan.column_count())) return std::nullopt;
  found.sum = before_reshapes(region, mean.inputs[0]);
  const Node& total = region.node(found.sum);
  const bool own = total.op == Op::Sum && inside(found.sum) && total.inputs[0] == apart.inputs[0] &&
                   total.attrs.dims == sum.attrs.dims && total.dtype == sum.dtype;
  if (!own) return std::nullopt;
  return found;
}

}  // namespace

std::optional<RowPlan> plan_online(const Region& region, const RowPlan& plan) {
  RowPlan online = plan;
  for (size_t pass = 1; pass < online.passes.size(); ++pass) {
    std::vector<NodeId>&before = online.passes[pass - 1], &own = online.passes[pass];
    for (const NodeId id : std::vector<NodeId>(own)) {
      const auto is_before = [&](NodeId other) { return contains(before, other); };
      const auto found = rescaled_sum(region, region.node(id));
      const auto centred = centred_sum(region, plan, region.node(id));
      if (found && is_before(found->max)) {
        online.rescaled[id] = *found;
      } else if (centred && is_before(centred->sum) && online.centred.count(centred->sum) == 0) {
        online.centred[id] = *centred;
      } else {
        continue;
      }
      before.push_back(id);
      std::erase(own, id);
    }
  }
  std::erase_if(online.passes, [](const auto& pass) { return pass.empty(); });
  if (online.passes.size() == plan.passes.size()) return std::nullopt;
  return online;
}

const char* partial_type(DType dtype) {
  if (tensor::is_float(dtype)) return dtype == DType::Fp64 ? "double" : "float";
  return tensor::dtype_size(dtype) < 4 ? "int" : register_type(dtype);
}

DType partial_dtype(DType dtype) {
  const std::string_view type = partial_type(dtype);
  if (type == "float") return DType::Fp32;
  return type == "int" ? DType::Int32 : dtype;
}

std::string identity_of(Op op, DType dtype) {
  const std::string type = partial_type(dtype);
  if (op == Op::Sum) return type == "float" ? "0.0f" : "0";
  if (op == Op::Prod) return type == "float" ? "1.0f" : "1";
  const bool lowest = op == Op::Max;
  const double infinity = std::numeric_limits<double>::infinity();
  if (tensor::is_float(dtype)) return literal(dtype, lowest ? -infinity : infinity, 0);
  const DType held = tensor::dtype_size(dtype) < 4 ? DType::Int32 : dtype;
  if (tensor::is_unsigned_int(held)) return lowest ? "0" : literal(held, 0, -1);
  const int64_t low = std::numeric_limits<int64_t>::min() >> (64 - 8 * tensor::dtype_size(held));
  return literal(held, 0, lowest ? low : ~low);
}

const char* combine_of(Op op) {
  switch (op) {
    case Op::Sum:
      return "Add";
    case Op::Prod:
      return "Multiply";
    case Op::Max:
      return "Larger";
    default:
      return "Smaller";
  }
}

}  // namespace kw::generate
